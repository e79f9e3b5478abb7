#include <iostream>
#include <memory>
#include <string>

#include "gloveport/gloveport.h"

int main() {
  auto tools = std::make_shared<gloveport::ToolRegistry>();
  const auto cost = [](int contacts, const std::string& channel) {
    return contacts * (channel == "cellular" ? 0.8 : 1.2);
  };
  auto added = tools->Add("contact_cost", "Cost in EUR of calling people", cost,
                          {gloveport::Arg("contacts", "number of contacts"),
                           gloveport::Arg("channel", "how they were called", "cellular")});
  if (!added) return std::cerr << added.error().message << '\n', 1;

  auto runtime = gloveport::Runtime::Create();
  if (!runtime) return std::cerr << runtime.error().message << '\n', 1;
  auto session = (*runtime)->Open({.policy = *gloveport::PresetPolicy("default"), .tools = tools});
  if (!session) return std::cerr << session.error().message << '\n', 1;

  auto result = (*session)->Run(
      "months = {'mar': 477, 'may': 13766}\n"
      "{month: round(contact_cost(n), 2) for month, n in months.items()}");
  if (!result) return std::cerr << result.error().message << '\n', 1;
  std::cout << gloveport::OutcomeName(result->outcome) << ": " << result->repr << '\n';
}
