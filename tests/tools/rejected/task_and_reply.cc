// expected: a function that answers by a ToolReply returns nothing
#include "gloveport/tools/registry.h"
#include "gloveport/tools/task.h"

int main() {
  gloveport::ToolRegistry registry;
  return registry.Add("f", "", [](gloveport::ToolReply<int>) -> gloveport::ToolTask<int> { co_return 1; })
             ? 0
             : 1;
}
