// Makes lines for training of runs that were kept (run_store.h). Formats and labels: TRACES.md. Pure.
#ifndef GLOVEPORT_CORE_AGENT_TRACE_EXPORT_H_
#define GLOVEPORT_CORE_AGENT_TRACE_EXPORT_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/policy/redaction.h"

namespace gloveport {

enum class TraceFormat : std::uint8_t { kOpenAiChat, kShareGpt, kCodeAct };
std::string_view TraceFormatName(TraceFormat format);  // "openai-chat", "sharegpt", "codeact"
std::optional<TraceFormat> ParseTraceFormat(std::string_view name);

// JSON Schema (2020-12) of a line.
Json TraceSchema(TraceFormat format);

struct TraceOptions {
  TraceFormat format = TraceFormat::kOpenAiChat;
  bool only_successes = false;
  bool only_validated = false;
  bool drop_failed_steps = false;  // of runs that succeeded
  bool keep_duplicates = false;
  Redactor redactor;
};

// Not thread-safe: remembers what it has given, to leave out duplicates.
class TraceExporter {
 public:
  explicit TraceExporter(TraceOptions options) : options_(std::move(options)) {}

  // The line of a run; nothing where a filter leaves it out, or no step has code. kInvalidArgument for what
  // is no run.
  Result<std::optional<Json>> Line(const Json& run_file);

  // Runs that were given and made no line.
  std::size_t filtered() const { return filtered_; }
  std::size_t duplicates() const { return duplicates_; }

 private:
  TraceOptions options_;
  std::unordered_set<std::string> given_;  // hashes
  std::size_t filtered_ = 0;
  std::size_t duplicates_ = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_TRACE_EXPORT_H_
