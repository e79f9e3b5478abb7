# The fuzzing step of scripts/test, which sources this file; it uses step and check of scripts/test.
# shellcheck shell=bash

# Debian and Ubuntu: whatever version of clang the distribution stands behind, and libFuzzer for it.
FUZZ_PACKAGES=(clang libclang-rt-dev)

# Whether clang++ can build a fuzzer here: the packages are optional, and their names may change.
can_build_fuzzers() {
  local folder works=1
  command -v clang++ >/dev/null || return 1
  folder=$(mktemp -d)
  printf '%s\n' '#include <string>' \
    'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long n) { return std::string(n, 0)[0]; }' \
    >"$folder/probe.cc"
  clang++ -std=c++20 -fsanitize=fuzzer,address,undefined "$folder/probe.cc" -o "$folder/probe" 2>"$folder/log" || works=0
  rm -rf "$folder"
  ((works))
}

# run_fuzzers SECONDS REGEX: every target whose name matches, side by side, SECONDS of wall time in all.
# Each starts from its seeds and from what earlier runs in this build folder found; results/fuzz has the logs.
run_fuzzers() {
  local total=$1 selected=$2 names=() name parallel each
  mapfile -t names < <(fuzz_targets | grep -E -- "$selected")
  ((${#names[@]} > 0)) || return 0
  step "Building the fuzzers"
  if ! can_build_fuzzers; then
    check fuzz skip "clang++ cannot build with -fsanitize=fuzzer here; packages: ${FUZZ_PACKAGES[*]}"
    return
  fi
  build_preset fuzz "${names[@]}"
  parallel=$(job_count)
  each=$((total / ((${#names[@]} + parallel - 1) / parallel)))
  ((each > 0)) || each=1
  step "Fuzzing: ${#names[@]} targets, $each s each, $parallel at a time"
  mkdir -p "$results/fuzz"
  for name in "${names[@]}"; do
    (($(jobs -rp | wc -l) < parallel)) || wait -n || true
    fuzz_one "$name" "$each" &
  done
  wait || true
  for name in "${names[@]}"; do judge_fuzzer "$name"; done
}

fuzz_targets() {
  local source
  for source in tests/fuzz/*_fuzz.cc; do
    source=${source##*/}
    printf 'fuzz_%s\n' "${source%_fuzz.cc}"
  done
}

# fuzz_one TARGET SECONDS: the log and the exit code stay in results/fuzz, and the input where it crashed.
fuzz_one() {
  local name=$1 corpus=build/fuzz/corpus/$1 code=0
  mkdir -p "$corpus"
  "build/fuzz/tests/fuzz/$name" -max_total_time="$2" -timeout=20 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="$results/fuzz/$name." "$corpus" "tests/fuzz/seeds/${name#fuzz_}" \
    >"$results/fuzz/$name.log" 2>&1 </dev/null || code=$?
  printf '%s\n' "$code" >"$results/fuzz/$name.code"
}

judge_fuzzer() {
  local name=$1 log=$results/fuzz/$1.log code runs input
  code=$(cat "$results/fuzz/$name.code" 2>/dev/null || echo "none")
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  if [[ $code == 0 && ${runs:-0} -gt 0 ]]; then
    say "$name: $runs inputs"
    check "$name" pass ""
    return
  fi
  # What happened and where; the end of the log is a map of the memory.
  grep -m 1 -A 14 -E 'ERROR: |runtime error: |: broken: ' "$log" >&2 || tail -n 20 "$log" >&2
  for input in "$results/fuzz/$name".{crash,leak,timeout,oom}-*; do
    [[ -e $input ]] || continue
    check "$name" fail "again with: build/fuzz/tests/fuzz/$name $input"
    return
  done
  check "$name" fail "exit code $code, ${runs:-0} inputs; see $log"
}
