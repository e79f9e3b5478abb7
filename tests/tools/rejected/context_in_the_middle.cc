// expected: must be the first or the last parameter
#include "gloveport/tools/registry.h"

int main() {
  gloveport::ToolRegistry registry;
  return registry.Add("f", "", [](int, gloveport::CallContext&, int) {}, {gloveport::Arg("a")}) ? 0 : 1;
}
