// expected: a tool cannot change its arguments
#include "gloveport/tools/registry.h"

int main() {
  gloveport::ToolRegistry registry;
  return registry.Add("f", "", [](std::string&) {}, {gloveport::Arg("a")}) ? 0 : 1;
}
