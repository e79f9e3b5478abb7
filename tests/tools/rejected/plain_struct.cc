// expected: this type cannot be a parameter or result of a tool
#include "gloveport/tools/registry.h"

struct Undescribed {};

int main() {
  gloveport::ToolRegistry registry;
  return registry.Add("f", "", [](Undescribed) {}, {gloveport::Arg("a")}) ? 0 : 1;
}
