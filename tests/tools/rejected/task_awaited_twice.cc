// expected: a ToolTask is awaited once
#include "gloveport/tools/task.h"

gloveport::ToolTask<int> Inner() { co_return 1; }
gloveport::ToolTask<int> Outer() {
  auto inner = Inner();
  co_return co_await inner;
}

int main() { return 0; }
