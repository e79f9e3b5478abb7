#include "gloveport/policy/environment.h"

namespace gloveport {

std::vector<std::string> ConstantEnvironment(std::string_view work_folder) {
  const std::string home(work_folder);
  const std::string temp = work_folder == kWorkFolder ? std::string(kTempFolder) : home;
  return {
      "LANG=C.UTF-8",
      "LC_ALL=C.UTF-8",
      "TZ=UTC",
      "HOME=" + home,
      "LOGNAME=sandbox",  // there is no /etc/passwd to look it up in
      "TMPDIR=" + temp,
      // One thread in every numerical library: a fork of a process with a threaded BLAS can hang for ever.
      "OPENBLAS_NUM_THREADS=1",
      "OMP_NUM_THREADS=1",
      "MKL_NUM_THREADS=1",
      "NUMEXPR_NUM_THREADS=1",
      "NUMEXPR_MAX_THREADS=1",
      "MPLBACKEND=Agg",
      "MPLCONFIGDIR=" + temp + "/.matplotlib",
  };
}

}  // namespace gloveport
