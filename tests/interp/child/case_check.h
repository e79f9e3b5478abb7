// Whether a cell's outcome is what a case of cells.jsonl demands (tests/cases/README.md, "Keys of an
// outcome").
#ifndef GLOVEPORT_TESTS_INTERP_CHILD_CASE_CHECK_H_
#define GLOVEPORT_TESTS_INTERP_CHILD_CASE_CHECK_H_

#include <cstdint>
#include <filesystem>
#include <string>

#include "gloveport/core/wire/value_json.h"
#include "gloveport/tests/interp/child/session_process.h"

namespace gloveport::testing {

// Empty where the outcome meets the demand, else what is wrong.
std::string Mismatch(const Json& expected, const CellRun& run, std::uint32_t cell,
                     const std::filesystem::path& folder);

// Each entry of `accept_also` merged over `expected`.
std::vector<Json> Alternatives(const Json& expected, const Json& accept_also);

}  // namespace gloveport::testing

#endif  // GLOVEPORT_TESTS_INTERP_CHILD_CASE_CHECK_H_
