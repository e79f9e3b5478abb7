#include "gloveport/core/wire/messages.h"

#include <fmt/core.h>

#include <limits>
#include <type_traits>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/wire/cbor.h"

namespace gloveport::wire {
namespace {

// Message types are the first element of each array. Numbers are never reused.
enum class Type : std::uint64_t {
  kRunCell = 1,
  kToolReply = 2,
  kRequest = 3,
  kReady = 32,
  kSetupFailed = 33,
  kToolCall = 34,
  kFinalAnswer = 35,
  kDisplay = 36,
  kEvent = 37,
  kCellDone = 38,
  kReply = 39,
};

// An Encoded field is wrapped into a byte string, so that a reader can pass over it without parsing it.
struct Wrapped {
  Encoded& item;
};
struct ConstWrapped {
  const Encoded& item;
};

class FieldWriter {
 public:
  FieldWriter(Type type, std::size_t fields) {
    writer_.ArrayHead(fields + 1);
    writer_.Unsigned(static_cast<std::uint64_t>(type));
  }
  FieldWriter& operator<<(std::uint64_t v) { return writer_.Unsigned(v), *this; }
  FieldWriter& operator<<(std::uint32_t v) { return writer_.Unsigned(v), *this; }
  FieldWriter& operator<<(bool v) { return writer_.Bool(v), *this; }
  FieldWriter& operator<<(const std::string& v) { return writer_.Text(v), *this; }
  FieldWriter& operator<<(ConstWrapped v) { return writer_.Bytes(AsBytes(v.item)), *this; }
  std::string Take() { return writer_.Take(); }

 private:
  CborWriter writer_;
};

class FieldReader {
 public:
  explicit FieldReader(std::string_view payload) : reader_(payload) {}

  std::uint64_t Begin() {
    const CborItem head = reader_.Next();
    if (head.kind != CborKind::kArray || head.argument == 0)
      return reader_.Fault("a message that is no array"), 0;
    fields_ = head.argument - 1;
    return ReadUnsigned();
  }
  FieldReader& operator>>(std::uint64_t& v) { return Count(), v = ReadUnsigned(), *this; }
  FieldReader& operator>>(std::uint32_t& v) {
    Count();
    const std::uint64_t wide = ReadUnsigned();
    if (wide > std::numeric_limits<std::uint32_t>::max()) reader_.Fault("a number beyond 32 bits");
    v = static_cast<std::uint32_t>(wide);
    return *this;
  }
  FieldReader& operator>>(bool& v) {
    Count();
    const CborItem item = reader_.Next();
    if (item.kind != CborKind::kBool) reader_.Fault("a field that should be true or false");
    v = item.argument != 0;
    return *this;
  }
  FieldReader& operator>>(std::string& v) {
    Count();
    const CborItem item = reader_.Next();
    if (item.kind != CborKind::kText) reader_.Fault("a field that should be text");
    v.assign(item.bytes);
    return *this;
  }
  FieldReader& operator>>(Wrapped v) {
    Count();
    const CborItem item = reader_.Next();
    if (item.kind != CborKind::kBytes) reader_.Fault("a field that should be an encoded value");
    v.item.assign(item.bytes);
    return *this;
  }
  Status Finish() {
    if (reader_.ok() && read_ != fields_) reader_.Fault("a message with a wrong number of fields");
    if (reader_.ok() && !reader_.AtEnd()) reader_.Fault("bytes after the end of a message");
    if (!reader_.ok()) return Fail(ErrorCode::kProtocol, reader_.error());
    return {};
  }

 private:
  void Count() { ++read_; }
  std::uint64_t ReadUnsigned() {
    const CborItem item = reader_.Next();
    if (item.kind != CborKind::kInt) reader_.Fault("a field that should be a number");
    return item.argument;
  }

  CborReader reader_;
  std::uint64_t fields_ = 0;
  std::uint64_t read_ = 0;
};

std::string Write(const RunCell& m) {
  const auto clock = static_cast<std::uint64_t>(m.clock.value_or(std::chrono::nanoseconds(0)).count());
  return (FieldWriter(Type::kRunCell, 5) << m.cell << m.code << m.approved << m.clock.has_value() << clock)
      .Take();
}
std::string Write(const ToolReply& m) {
  return (FieldWriter(Type::kToolReply, 5)
          << m.call << m.ok << ConstWrapped{m.value} << m.error_type << m.error_message)
      .Take();
}
std::string Write(const Request& m) {
  return (FieldWriter(Type::kRequest, 3) << m.id << m.op << ConstWrapped{m.args}).Take();
}
std::string Write(const Ready& m) { return (FieldWriter(Type::kReady, 1) << ConstWrapped{m.report}).Take(); }
std::string Write(const SetupFailed& m) {
  return (FieldWriter(Type::kSetupFailed, 2) << m.step << m.message).Take();
}
std::string Write(const ToolCall& m) {
  return (FieldWriter(Type::kToolCall, 4) << m.call << m.cell << m.name << ConstWrapped{m.args}).Take();
}
std::string Write(const FinalAnswer& m) {
  return (FieldWriter(Type::kFinalAnswer, 4) << m.cell << ConstWrapped{m.value} << m.repr << m.explanation)
      .Take();
}
std::string Write(const Display& m) {
  return (FieldWriter(Type::kDisplay, 2) << m.cell << ConstWrapped{m.bundle}).Take();
}
std::string Write(const Event& m) {
  return (FieldWriter(Type::kEvent, 2) << m.kind << ConstWrapped{m.details}).Take();
}
std::string Write(const CellDone& m) {
  return (FieldWriter(Type::kCellDone, 6)
          << m.cell << m.status << ConstWrapped{m.value} << m.repr << m.type << ConstWrapped{m.error})
      .Take();
}
std::string Write(const Reply& m) {
  return (FieldWriter(Type::kReply, 5)
          << m.id << m.ok << ConstWrapped{m.value} << m.error_type << m.error_message)
      .Take();
}

void Read(FieldReader& r, RunCell& m) {
  bool has_clock = false;
  std::uint64_t clock = 0;
  r >> m.cell >> m.code >> m.approved >> has_clock >> clock;
  if (has_clock) m.clock = std::chrono::nanoseconds(static_cast<std::int64_t>(clock));
}
void Read(FieldReader& r, ToolReply& m) {
  r >> m.call >> m.ok >> Wrapped{m.value} >> m.error_type >> m.error_message;
}
void Read(FieldReader& r, Request& m) { r >> m.id >> m.op >> Wrapped{m.args}; }
void Read(FieldReader& r, Ready& m) { r >> Wrapped{m.report}; }
void Read(FieldReader& r, SetupFailed& m) { r >> m.step >> m.message; }
void Read(FieldReader& r, ToolCall& m) { r >> m.call >> m.cell >> m.name >> Wrapped{m.args}; }
void Read(FieldReader& r, FinalAnswer& m) { r >> m.cell >> Wrapped{m.value} >> m.repr >> m.explanation; }
void Read(FieldReader& r, Display& m) { r >> m.cell >> Wrapped{m.bundle}; }
void Read(FieldReader& r, Event& m) { r >> m.kind >> Wrapped{m.details}; }
void Read(FieldReader& r, CellDone& m) {
  r >> m.cell >> m.status >> Wrapped{m.value} >> m.repr >> m.type >> Wrapped{m.error};
}
void Read(FieldReader& r, Reply& m) {
  r >> m.id >> m.ok >> Wrapped{m.value} >> m.error_type >> m.error_message;
}

template <typename Message, typename Any>
Result<Any> Finish(FieldReader& reader) {
  Message message;
  Read(reader, message);
  RETURN_IF_ERROR(reader.Finish());
  return Any(std::move(message));
}

tl::unexpected<Error> UnknownType(FieldReader& reader, std::uint64_t type) {
  const Status status = reader.Finish();
  if (type == 0 && !status) return tl::unexpected<Error>(status.error());
  return Fail(ErrorCode::kProtocol, fmt::format("unknown message type {}", type));
}

}  // namespace

std::string Encode(const HostMessage& message) {
  return std::visit([](const auto& m) { return Write(m); }, message);
}

std::string Encode(const SessionMessage& message) {
  return std::visit([](const auto& m) { return Write(m); }, message);
}

Result<HostMessage> DecodeHostMessage(std::string_view payload) {
  FieldReader reader(payload);
  const std::uint64_t type = reader.Begin();
  switch (static_cast<Type>(type)) {
    case Type::kRunCell:
      return Finish<RunCell, HostMessage>(reader);
    case Type::kToolReply:
      return Finish<ToolReply, HostMessage>(reader);
    case Type::kRequest:
      return Finish<Request, HostMessage>(reader);
    default:
      return UnknownType(reader, type);
  }
}

Result<SessionMessage> DecodeSessionMessage(std::string_view payload) {
  FieldReader reader(payload);
  const std::uint64_t type = reader.Begin();
  switch (static_cast<Type>(type)) {
    case Type::kReady:
      return Finish<Ready, SessionMessage>(reader);
    case Type::kSetupFailed:
      return Finish<SetupFailed, SessionMessage>(reader);
    case Type::kToolCall:
      return Finish<ToolCall, SessionMessage>(reader);
    case Type::kFinalAnswer:
      return Finish<FinalAnswer, SessionMessage>(reader);
    case Type::kDisplay:
      return Finish<Display, SessionMessage>(reader);
    case Type::kEvent:
      return Finish<Event, SessionMessage>(reader);
    case Type::kCellDone:
      return Finish<CellDone, SessionMessage>(reader);
    case Type::kReply:
      return Finish<Reply, SessionMessage>(reader);
    default:
      return UnknownType(reader, type);
  }
}

}  // namespace gloveport::wire
