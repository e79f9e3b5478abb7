// expected: this type cannot be a parameter or result of a tool
#include "gloveport/tools/registry.h"

int main() {
  gloveport::ToolRegistry registry;
  return registry.Add("f", "", [](std::map<int, int>) {}, {gloveport::Arg("a")}) ? 0 : 1;
}
