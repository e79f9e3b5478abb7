// expected: a tool is made from a function
#include "gloveport/tools/registry.h"

int main() {
  gloveport::ToolRegistry registry;
  return registry.Add("f", "", 5, {gloveport::Arg("a")}) ? 0 : 1;
}
