#include "gloveport/core/record/record_compare.h"

#include <algorithm>
#include <array>

#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

const Json& FindKind(const std::vector<Json>& records, std::string_view kind) {
  static const Json kNone;
  const auto found = std::ranges::find_if(records.rbegin(), records.rend(),
                                          [&](const Json& r) { return TextOf(r, "kind") == kind; });
  return found == records.rend() ? kNone : *found;
}

// A value is compared by its hash where it has one; what has no faithful form by what people see of it.
Json ValueKey(const Json& value) {
  if (!value.is_object()) return value;
  return {{"type", MemberOf(value, "type")}, {"sha256", MemberOf(value, "sha256")}};
}

Json DisplaysOf(const std::vector<Json>& records) {
  Json displays = Json::array();
  for (const Json& record : records) {
    if (TextOf(record, "kind") != "display") continue;
    Json parts = Json::object();
    for (const auto& [type, part] : MemberOf(record, "parts").items()) parts[type] = MemberOf(part, "sha256");
    displays.push_back(std::move(parts));
  }
  return displays;
}

Json CallsOf(const std::vector<Json>& records) {
  std::vector<std::string> calls;
  for (const Json& record : records) {
    if (TextOf(record, "kind") == "tool_call")
      calls.push_back(TextOf(record, "tool") + " " + TextOf(MemberOf(record, "args"), "sha256"));
  }
  std::ranges::sort(calls);
  return calls;
}

Json ErrorKey(const Json& error) {
  if (!error.is_object()) return error;
  return {{"type", MemberOf(error, "type")},
          {"message", MemberOf(error, "message")},
          {"line", MemberOf(error, "line")},
          {"cell", MemberOf(error, "cell")}};
}

Json OutputKey(const Json& output) {
  Json key = {{"bytes", MemberOf(output, "bytes")}, {"sha256", MemberOf(output, "sha256")}};
  if (output.contains("text")) key["text"] = output["text"];
  return key;
}

}  // namespace

std::vector<CellDifference> CompareCells(const std::vector<Json>& recorded, const std::vector<Json>& now) {
  std::vector<CellDifference> differences;
  const auto compare = [&](std::string what, Json before, Json after) {
    if (before != after) differences.push_back({std::move(what), std::move(before), std::move(after)});
  };
  compare("verdict", MemberOf(FindKind(recorded, "verdict"), "decision"),
          MemberOf(FindKind(now, "verdict"), "decision"));
  compare("tool_calls", CallsOf(recorded), CallsOf(now));
  const Json& before = FindKind(recorded, "cell_end");
  const Json& after = FindKind(now, "cell_end");
  for (const char* member : {"outcome", "state"})
    compare(member, MemberOf(before, member), MemberOf(after, member));
  compare("error", ErrorKey(MemberOf(before, "error")), ErrorKey(MemberOf(after, "error")));
  compare("limit", MemberOf(MemberOf(before, "limit"), "limit"), MemberOf(MemberOf(after, "limit"), "limit"));
  compare("value", ValueKey(MemberOf(before, "value")), ValueKey(MemberOf(after, "value")));
  compare("final_answer", ValueKey(MemberOf(before, "final_answer")),
          ValueKey(MemberOf(after, "final_answer")));
  for (const char* stream : {"stdout", "stderr"})
    compare(stream, OutputKey(MemberOf(before, stream)), OutputKey(MemberOf(after, stream)));
  compare("displays", DisplaysOf(recorded), DisplaysOf(now));
  return differences;
}

}  // namespace gloveport
