// What rejected/ does wrong, done right.
#include "gloveport/tools/registry.h"
#include "gloveport/tools/task.h"

struct Described {
  int x = 0;
};
constexpr auto ToolFields(const Described*) { return std::make_tuple(gloveport::Field("x", &Described::x)); }

gloveport::ToolTask<gloveport::Result<int>> Task(int a, gloveport::CallContext&) {
  auto inner = [](int b) -> gloveport::ToolTask<int> { co_return b; }(a);
  co_return co_await std::move(inner) + co_await gloveport::Result<int>(1);
}

int main() {
  using gloveport::Arg;
  gloveport::ToolRegistry registry;
  const bool all = registry.Add("a", "", [](Described) {}, {Arg("a")}) &&
                   registry.Add("b", "", [](const std::string&) {}, {Arg("a")}) &&
                   registry.Add("c", "", [](signed char) {}, {Arg("a")}) &&
                   registry.Add("d", "", [](int) { return Described(); }, {Arg("a")}) &&
                   registry.Add("e", "", [](std::vector<std::optional<Described>>) {}, {Arg("a")}) &&
                   registry.Add("f", "", [](std::map<std::string, int>) {}, {Arg("a")}) &&
                   registry.Add("g", "", [](double) {}, {Arg("a")}) &&
                   registry.Add("h", "", [](int, int, gloveport::CallContext&) {}, {Arg("a"), Arg("b")}) &&
                   registry.Add("i", "", &Task, {Arg("a")});
  return all ? 0 : 1;
}
