// The `gloveport` command with one tool more: contact_cost, a plain C++ function.

#include <cstdio>
#include <memory>

#include "gloveport/core/cli/program.h"
#include "gloveport/tools/registry.h"

#include "contact_cost.h"

int main(int argc, char** argv) {
  using gloveport::Arg;
  auto tools = std::make_shared<gloveport::ToolRegistry>();
  const auto added = tools->Add("contact_cost", "Cost in EUR of contacting clients over one channel",
                                &conversion::ContactCost,
                                {Arg("contacts", "number of contacts made"),
                                 Arg("channel", "'cellular', 'telephone' or 'unknown'", "cellular")});
  if (!added) {
    std::fprintf(stderr, "conversion: %s\n", added.error().message.c_str());
    return 1;
  }
  return gloveport::RunProgram(
      {.name = "conversion", .summary = "The gloveport command with the tool contact_cost", .tools = tools},
      argc, argv);
}
