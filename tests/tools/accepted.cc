// What rejected/ does wrong, done right.
#include "gloveport/tools/registry.h"

struct Described {
  int x = 0;
};
constexpr auto ToolFields(const Described*) { return std::make_tuple(gloveport::Field("x", &Described::x)); }

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
                   registry.Add("h", "", [](int, int, gloveport::CallContext&) {}, {Arg("a"), Arg("b")});
  return all ? 0 : 1;
}
