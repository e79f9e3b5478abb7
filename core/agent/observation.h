// What the model is told about a step: short, typed, cut in the middle, with the lines to mend. Pure.
//
// Everything that a session wrote is untrusted: each of its lines begins with "| " here and control
// characters are spelled out, so that it can neither look like our own words nor end its own quotation.
#ifndef GLOVEPORT_CORE_AGENT_OBSERVATION_H_
#define GLOVEPORT_CORE_AGENT_OBSERVATION_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/agent/action_parser.h"
#include "gloveport/core/host/outcome.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/model/action_form.h"
#include "gloveport/policy/redaction.h"

namespace gloveport {

// In bytes of text before escaping.
struct ObservationLimits {
  std::size_t max_stdout = 6000;
  std::size_t max_stderr = 2000;
  std::size_t max_value = 3000;
  std::size_t max_message = 2000;  // of an error
  std::size_t max_traceback = 2000;
  std::size_t max_findings = 10;  // of a verdict, and errors of a schema
};

// `text` if it is short enough, else its beginning and its end, cut at line ends where they are near, with a
// line in between that says how much is missing.
std::string HeadAndTail(std::string_view text, std::size_t max_bytes);

// Every line quoted with "| ", control characters spelled out.
std::string Quote(std::string_view untrusted);

// Without the secrets in what the cell wrote, and in its value's repr and its error: before it is cut, for a
// secret that a cut parts in two is not recognised.
CellResult Redacted(const Redactor& redactor, CellResult result);

// The outcome of a cell whose source was `code`.
std::string ObserveCell(const CellResult& result, std::string_view code,
                        const ObservationLimits& limits = {});
// One line of it, for a memory that has no room for more.
std::string ObserveCellBriefly(const CellResult& result);

// A cell that was held back for what was found in it before it ran.
std::string ObserveFindings(const std::vector<Finding>& findings, std::string_view code,
                            const ObservationLimits& limits = {});

// A final answer that does not fit the schema.
std::string ObserveValidation(const std::vector<SchemaError>& errors, const ObservationLimits& limits = {});

// A reply without code, with how to reply instead in the form that the model is asked for.
std::string ObserveNoAction(const Action& action, ActionForm form = ActionForm::kText);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_OBSERVATION_H_
