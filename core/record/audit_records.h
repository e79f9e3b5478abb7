// The bodies of an audit log's records: what is said of each event, before the chain adds seq, prev and hash.
// Pure functions; FORMAT.md has the members.
#ifndef GLOVEPORT_CORE_RECORD_AUDIT_RECORDS_H_
#define GLOVEPORT_CORE_RECORD_AUDIT_RECORDS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "gloveport/core/host/event_sink.h"
#include "gloveport/core/host/sha256.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/policy/redaction.h"

namespace gloveport {

// How much of a value or text a record holds, and what is taken out of it.
struct Keeping {
  Redactor redactor;
  std::size_t max_value_bytes = 0;
  std::size_t max_input_bytes = 0;
  std::size_t max_text_bytes = 0;
};

// What a cell wrote on one stream: of all of it a hash and the size, of its beginning the text.
class OutputDigest {
 public:
  void Add(std::string_view text, std::size_t max_text_bytes);
  Json Take(const Keeping& keeping);  // {"bytes","sha256","text"?}

 private:
  Sha256 hash_;
  std::uint64_t bytes_ = 0;
  std::string text_;
};

Json SessionRecord(const SessionFacts& facts);
Json VerdictRecord(const Keeping& keeping, const Verdict& verdict);
Json CellRecord(const Keeping& keeping, std::string_view code);
Json AskedRecord(const Keeping& keeping, const ApprovalRequest& request);
Json DecidedRecord(const Keeping& keeping, const ApprovalRequest& request, const ApprovalDecision& decision);
Json ToolCallBody(const Keeping& keeping, std::uint64_t call, std::string_view tool, const Value& arguments);
Json ToolResultBody(const Keeping& keeping, const ToolCallRecord& call);
Json DisplayRecord(const Keeping& keeping, const Value& bundle);
Json RefusalRecord(const Keeping& keeping, const Refusal& refusal);
Json CellEndRecord(const Keeping& keeping, const CellResult& result);
Json FileRecord(const Keeping& keeping, std::string_view path, std::span<const std::byte> data);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_RECORD_AUDIT_RECORDS_H_
