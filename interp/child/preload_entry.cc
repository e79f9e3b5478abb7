// Takes the distribution's Python program over. Its own build of the interpreter is faster than the shared
// library (optimised as a whole, with fixed addresses), and exports the same C API. The C library's start
// function is what every program calls first: here it gets another main, and Python's never runs.

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "gloveport/interp/child/interp_main.h"

namespace {

using Main = int (*)(int, char**, char**);
using StartMain = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

int MainInstead(int, char**, char**) {
  ::unsetenv("LD_PRELOAD");
  ::unsetenv("LD_BIND_NOW");
  gloveport::child::InterpMain();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int __libc_start_main(Main, int argc, char** argv,
                                                                        void (*init)(), void (*fini)(),
                                                                        void (*rtld_fini)(),
                                                                        void* stack_end) {
  const auto start = reinterpret_cast<StartMain>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  if (start == nullptr) ::_exit(127);
  return start(&MainInstead, argc, argv, init, fini, rtld_fini, stack_end);
}
