// expected: co_await of a Result needs a coroutine that can fail
#include "gloveport/tools/task.h"

gloveport::ToolTask<int> Outer() { co_return co_await gloveport::Result<int>(1); }

int main() { return 0; }
