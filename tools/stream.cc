#include "gloveport/tools/stream.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

namespace gloveport {
namespace {

constexpr std::chrono::milliseconds kMaxWait{20};  // that values which are there wait for others
constexpr std::size_t kMaxSessions = 4096;         // whose streams a tool keeps
constexpr std::size_t kMaxBytes = 1u << 20;        // that are put into one answer, but for the last value

// Roughly; enough to keep an answer small.
std::size_t SizeOf(const Value& value) {
  if (value.is_text()) return value.as_text().size();
  if (value.is_bytes()) return value.as_bytes().size();
  std::size_t size = 8;
  if (value.is_list()) {
    for (const Value& item : value.as_list()) size += SizeOf(item);
  } else if (value.is_map()) {
    for (const auto& [key, member] : value.as_map()) size += SizeOf(key) + SizeOf(member);
  } else if (value.is_extended()) {
    size += SizeOf(value.payload());
  }
  return size;
}

class Continuation : public Tool {
 public:
  Continuation(std::string_view tool, std::shared_ptr<ValueStreams> streams) : streams_(std::move(streams)) {
    spec_.name = std::string(tool) + std::string(kContinuationSuffix);
    spec_.parameters.push_back({"stream", "", "int", Value(Value::Map()), std::nullopt});
  }
  const ToolSpec& spec() const override { return spec_; }
  Result<Value> Call(const Arguments& arguments, CallContext& context) override {
    const Value* id = arguments.Find("stream");
    if (id == nullptr || !id->is_int())
      return Fail(ErrorCode::kInvalidArgument, "a stream is named by a number");
    return streams_->Continue(id->as_int(), context);
  }

 private:
  ToolSpec spec_;
  std::shared_ptr<ValueStreams> streams_;
};

}  // namespace

Result<Value> ValueStreams::Open(Next next, CallContext& context) {
  std::int64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    // Nobody tells when a session ends.
    if (sessions_.size() >= kMaxSessions && !sessions_.contains(context.session))
      std::erase_if(sessions_, [](const auto& session) { return session.second.open.empty(); });
    if (sessions_.size() >= kMaxSessions && !sessions_.contains(context.session))
      sessions_.erase(sessions_.begin());
    id = ++sessions_[context.session].last_id;
  }
  return Answer(id, {std::move(next), std::nullopt}, context);
}

Result<Value> ValueStreams::Continue(std::int64_t id, CallContext& context) {
  // Out of the table while it gives values: a second call beside the first finds nothing.
  std::map<std::int64_t, Stream>::node_type node;
  {
    const std::lock_guard lock(mutex_);
    const auto session = sessions_.find(context.session);
    if (session != sessions_.end()) node = session->second.open.extract(id);
  }
  if (node.empty())
    return Fail(ErrorCode::kNotFound,
                "this stream is not open: it has ended, or too many others were opened since");
  return Answer(id, std::move(node.mapped()), context);
}

Result<Value> ValueStreams::Answer(std::int64_t id, Stream stream, CallContext& context) {
  if (stream.error) return tl::unexpected<Error>(std::move(*stream.error));
  const auto give_by = Deadline::After(kMaxWait);
  Value::List items;
  std::size_t bytes = 0;
  bool ended = false;
  while (!ended && items.size() < kMaxItems && bytes < kMaxBytes && (items.empty() || !give_by.passed())) {
    auto next = stream.next(context);
    if (!next && items.empty()) return tl::unexpected<Error>(std::move(next).error());
    if (!next) {
      stream.error = std::move(next).error();
      break;
    }
    ended = !next->has_value();
    if (ended) continue;
    bytes += SizeOf(**next);
    items.push_back(std::move(**next));
  }
  if (!ended) Keep(context.session, id, std::move(stream));
  return Value::Object({{"id", ended ? Value() : Value(id)}, {"items", Value(std::move(items))}});
}

void ValueStreams::Keep(const std::string& session, std::int64_t id, Stream stream) {
  const std::lock_guard lock(mutex_);
  std::map<std::int64_t, Stream>& open = sessions_[session].open;
  if (open.size() >= kMaxOpenPerSession) open.erase(open.begin());
  open.emplace(id, std::move(stream));
}

std::shared_ptr<Tool> MakeContinuation(std::string_view tool, std::shared_ptr<ValueStreams> streams) {
  return std::make_shared<Continuation>(tool, std::move(streams));
}

}  // namespace gloveport
