// expected: generic lambdas and overloaded function objects
#include "gloveport/tools/registry.h"

int main() {
  gloveport::ToolRegistry registry;
  return registry.Add("f", "", [](auto) {}, {gloveport::Arg("a")}) ? 0 : 1;
}
