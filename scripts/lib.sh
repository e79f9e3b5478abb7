# Functions that scripts/demo and scripts/test share. Source it; by itself it does nothing but set GLOVEPORT_ROOT.
# shellcheck shell=bash

GLOVEPORT_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What a build needs. Everything is in Debian 12 and later and Ubuntu 24.04 and later.
GLOVEPORT_BUILD_PACKAGES=(
  cmake ninja-build g++ pkg-config ccache
  libpython3-dev pybind11-dev libexpected-dev nlohmann-json3-dev libcpp-httplib-dev libre2-dev
  libseccomp-dev libcli11-dev libfmt-dev libssl-dev libedit-dev libsqlite3-dev libgtest-dev libgmock-dev
)
# What runs need besides: the inspector validates with jsonschema, cells use the scientific packages.
GLOVEPORT_RUN_PACKAGES=(python3 python3-jsonschema python3-numpy python3-pandas python3-matplotlib tzdata)

say() { printf '%s\n' "$*" >&2; }
die() {
  say "$*"
  exit 1
}

# The packages among "$@" that dpkg does not have in the state "installed".
missing_packages() {
  local package
  for package in "$@"; do
    case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
      installed) ;;
      *) printf '%s\n' "$package" ;;
    esac
  done
}

# install_packages NAME...: installs what is missing with apt, as root or through sudo. Silent when nothing is.
install_packages() {
  local missing=() as_root=() log
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} == 0)); then return 0; fi
  command -v apt-get >/dev/null ||
    die "These packages are missing and there is no apt-get to install them with: ${missing[*]}"
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null ||
      die "These packages are missing; have an administrator run: apt-get install --no-install-recommends ${missing[*]}"
    as_root=(sudo)
  fi
  say "Installing ${#missing[@]} packages: ${missing[*]}"
  log=$(mktemp)
  # An update that fails in part (a third party's source is down) need not keep the install from working.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q >"$log" 2>&1 </dev/null || true
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    "${missing[@]}" >>"$log" 2>&1 </dev/null; then
    tail -n 30 "$log" >&2
    rm -f "$log"
    die "apt-get could not install the packages named above"
  fi
  rm -f "$log"
}

# How many jobs to build and test with: GLOVEPORT_JOBS, else one for each core, but never more than 1.5 GiB of
# memory allows (one translation unit with the JSON and HTTP headers takes up to that much).
job_count() {
  local cores memory_gib
  if [[ -n ${GLOVEPORT_JOBS:-} ]]; then
    printf '%s\n' "$GLOVEPORT_JOBS"
    return
  fi
  cores=$(nproc)
  memory_gib=$(awk '/^MemAvailable/ {print int($2 / 1572864)}' /proc/meminfo)
  ((memory_gib < 1)) && memory_gib=1
  printf '%s\n' $((cores < memory_gib ? cores : memory_gib))
}

# build_preset NAME [TARGET...]: configures and builds build/NAME; the whole log only when it fails.
# Compiler output goes to build/NAME/build.log; GLOVEPORT_VERBOSE=1 shows it as it comes.
build_preset() {
  local preset=$1 folder=$GLOVEPORT_ROOT/build/$1 launcher=() log
  shift
  mkdir -p "$folder"
  log=$folder/build.log
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    export CCACHE_BASEDIR=$GLOVEPORT_ROOT
  fi
  if ! (cd "$GLOVEPORT_ROOT" && cmake --preset "$preset" "${launcher[@]}") >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    die "Configuring preset '$preset' failed; the log is $log"
  fi
  local targets=()
  (($# > 0)) && targets=(--target "$@")
  local build=(cmake --build "$folder" -j "$(job_count)" "${targets[@]}")
  if [[ ${GLOVEPORT_VERBOSE:-} == 1 ]]; then
    "${build[@]}" >&2 || die "Building preset '$preset' failed"
  elif ! "${build[@]}" >>"$log" 2>&1; then
    grep -n -A 12 -E '(error|FAILED):' "$log" | head -n 60 >&2
    die "Building preset '$preset' failed; the log is $log"
  fi
}
