// How a cell went, in words for a terminal. Pure functions; what they return is safe to show.
#ifndef GLOVEPORT_CORE_CLI_REPORT_H_
#define GLOVEPORT_CORE_CLI_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/cli/console.h"
#include "gloveport/core/host/outcome.h"

namespace gloveport {

// "the policy refused the cell", the findings with line, rule and hint; or the traceback; or the limit.
std::string DescribeFailure(const CellResult& result, const Console& console);

std::string DescribeFindings(const Verdict& verdict, std::string_view indent = "  ");
std::string DescribeDisplay(const Value& bundle);  // "[image/png, 12.3 KiB]"
std::vector<std::string> DescribeTruncation(const CellResult& result);
std::string DescribeCall(std::string_view tool, const Value& arguments);  // without what came of it
std::string DescribeToolCall(
    const ToolCallRecord& call);                 // "contact_cost(contacts=3, channel='cellular') -> 1.2"
std::string DescribeBytes(std::uint64_t bytes);  // "12.3 KiB"

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_REPORT_H_
