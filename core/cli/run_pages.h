// An agent run that was kept, in the forms in which people read it. Pure; `file` is what RunStore::Load
// gives. All but the notebook is safe to show in a terminal.
#ifndef GLOVEPORT_CORE_CLI_RUN_PAGES_H_
#define GLOVEPORT_CORE_CLI_RUN_PAGES_H_

#include <string>
#include <vector>

#include "gloveport/core/cli/console.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

std::string RunLine(const Json& file);                          // one line of a list
std::string RunPage(const Json& file, const Console& console);  // steps, outcomes, answer
std::string RunMarkdown(const Json& file);
// Jupyter, format 4.5: thoughts as Markdown, code as cells with what they printed.
Json RunNotebook(const Json& file);

// What is not the same, a line each with "-", "+" or " " in front as in a unified diff; empty: nothing.
std::vector<std::string> RunDiff(const Json& before, const Json& after);

// The lines of two texts as a diff: common ones with a blank in front.
std::vector<std::string> LineDiff(std::string_view before, std::string_view after);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_RUN_PAGES_H_
