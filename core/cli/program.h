// RunProgram: the whole `gloveport` command as a function, so that a program with tools of its own gets the
// same commands (run, exec, session, doctor, policy) with a few lines of main. examples/conversion is one.
#ifndef GLOVEPORT_CORE_CLI_PROGRAM_H_
#define GLOVEPORT_CORE_CLI_PROGRAM_H_

#include <memory>
#include <string>

#include "gloveport/tools/registry.h"

namespace gloveport {

struct Program {
  std::string name = "gloveport";
  std::string summary = "Runs model-written Python in a confined process";
  std::shared_ptr<const ToolRegistry> tools;  // what `run --tools` may grant; may be null
};

// Parses the arguments, runs the command and returns its exit code. Errors are printed; nothing is thrown.
// Ignores SIGPIPE in the whole process. To be called once, from main, before other threads start.
int RunProgram(const Program& program, int argc, const char* const* argv);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_PROGRAM_H_
