#include "gloveport/core/wire/cbor.h"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <limits>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/wire/large_copy.h"

namespace gloveport {
namespace {

// Forms are tags of the first-come range that IANA leaves to applications.
constexpr std::uint64_t kFirstFormTag = 40'100;
constexpr std::uint64_t kFormCount = static_cast<std::uint64_t>(Form::kArrow) + 1;

}  // namespace

std::uint64_t TagOf(Form form) { return kFirstFormTag + static_cast<std::uint64_t>(form); }

std::optional<Form> FormOfTag(std::uint64_t tag) {
  if (tag < kFirstFormTag || tag - kFirstFormTag >= kFormCount) return std::nullopt;
  return static_cast<Form>(tag - kFirstFormTag);
}

void CborWriter::Head(unsigned major, std::uint64_t argument) {
  const auto put = [&](unsigned low) { out_.push_back(static_cast<char>((major << 5) | low)); };
  int bytes = 0;
  if (argument < 24) {
    put(static_cast<unsigned>(argument));
  } else if (argument <= 0xFF) {
    put(24), bytes = 1;
  } else if (argument <= 0xFFFF) {
    put(25), bytes = 2;
  } else if (argument <= 0xFFFFFFFF) {
    put(26), bytes = 4;
  } else {
    put(27), bytes = 8;
  }
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out_.push_back(static_cast<char>((argument >> shift) & 0xFF));
}

void CborWriter::Int(std::int64_t i) {
  if (i >= 0) {
    Head(0, static_cast<std::uint64_t>(i));
  } else {
    Head(1, ~static_cast<std::uint64_t>(i));  // -1 - i
  }
}

void CborWriter::Double(double d) {
  out_.push_back('\xfb');
  const auto bits = std::bit_cast<std::uint64_t>(d);
  for (int shift = 56; shift >= 0; shift -= 8) out_.push_back(static_cast<char>((bits >> shift) & 0xFF));
}

void CborWriter::Text(std::string_view utf8) {
  Head(3, utf8.size());
  out_.append(utf8);
}

bool CborWriter::PutShared(std::span<const std::byte> bytes) {
  if (shared_ == nullptr || bytes.size() < kLeastSharedBytes) return false;
  const auto place = shared_->Put(bytes);
  if (!place) return false;
  in_shared_.push_back({out_.size(), *place, bytes.size()});
  shared_bytes_ += bytes.size();
  Tag(kTagShared);
  ArrayHead(2);
  Unsigned(*place);
  Unsigned(bytes.size());
  return true;
}

void CborWriter::Truncate(std::size_t size) {
  out_.resize(size);
  for (; !in_shared_.empty() && in_shared_.back().position >= size; in_shared_.pop_back()) {
    shared_->Withdraw(in_shared_.back().place);
    shared_bytes_ -= in_shared_.back().size;
  }
}

void CborWriter::Bytes(std::span<const std::byte> bytes) {
  if (PutShared(bytes)) return;
  Head(2, bytes.size());
  out_.append(AsText(bytes));
}

CborItem CborReader::Fault(std::string_view what) {
  if (error_.empty()) error_ = fmt::format("malformed value at byte {}: {}", position_, what);
  return {};
}

CborReader::~CborReader() {
  for (const std::uint64_t place : places_) shared_->GiveBack(place);
}

// What names one place many times is limited by the sum.
CborItem CborReader::NextShared() {
  const CborItem head = Next();
  if (head.kind != CborKind::kArray || head.argument != 2) return Fault("shared bytes without their place");
  const CborItem place = Next();
  const CborItem size = Next();
  if (place.kind != CborKind::kInt || size.kind != CborKind::kInt)
    return Fault("shared bytes without their place");
  const auto bytes = shared_->At(place.argument, size.argument);
  if (!bytes) return Fault("shared bytes outside of the shared memory");
  if (size.argument > limits_.max_bytes - shared_bytes_) {
    too_many_bytes_ = true;
    return Fault("too many bytes");
  }
  shared_bytes_ += size.argument;
  places_.push_back(place.argument);
  return {CborKind::kBytes, size.argument, 0, *bytes};
}

CborItem CborReader::Next() {
  if (!ok()) return {};
  const std::size_t left = input_.size() - position_;
  if (left == 0) return Fault("it ends too early");
  if (++items_ > limits_.max_items) return Fault("too many items");
  const auto first = static_cast<unsigned char>(input_[position_]);
  const unsigned major = first >> 5;
  const unsigned low = first & 31;
  const std::size_t extra = low < 24 ? 0 : low <= 27 ? std::size_t{1} << (low - 24) : 0;
  if (low > 27) return Fault("a length form that is not used here");
  if (left - 1 < extra) return Fault("it ends too early");
  std::uint64_t argument = low < 24 ? low : 0;
  for (std::size_t i = 0; i < extra; ++i)
    argument = (argument << 8) | static_cast<unsigned char>(input_[position_ + 1 + i]);
  position_ += 1 + extra;
  const std::size_t rest = input_.size() - position_;

  switch (major) {
    case 0:
      return {CborKind::kInt, argument};
    case 1:
      return {CborKind::kNegative, argument};
    case 2:
    case 3: {
      if (argument > rest) return Fault("a text or byte string longer than what is there");
      const std::string_view bytes = input_.substr(position_, argument);
      if (major == 3 && !IsValidUtf8(bytes)) return Fault("text that is not UTF-8");
      position_ += argument;
      return {major == 2 ? CborKind::kBytes : CborKind::kText, argument, 0, bytes};
    }
    case 4:
      if (argument > rest) return Fault("an array with more items than what is there");
      return {CborKind::kArray, argument};
    case 5:
      if (argument > rest / 2) return Fault("a map with more items than what is there");
      return {CborKind::kMap, argument};
    case 6:
      if (argument == kTagShared && shared_ != nullptr) return NextShared();
      return {CborKind::kTag, argument};
    default:
      break;
  }
  if (low == 20 || low == 21) return {CborKind::kBool, low == 21};
  if (low == 22) return {CborKind::kNull};
  if (low == 27) return {CborKind::kDouble, 0, std::bit_cast<double>(argument)};
  return Fault("a simple value that is not used here");
}

namespace {

class ValueReader {
 public:
  explicit ValueReader(CborReader& reader) : reader_(reader) {}

  Value Read(std::size_t depth) {
    if (depth > reader_.limits().max_depth) return reader_.Fault("it is nested too deeply"), Value();
    const CborItem item = reader_.Next();
    switch (item.kind) {
      case CborKind::kInt:
        return Value(item.argument);
      case CborKind::kNegative:
        return Negative(item.argument);
      case CborKind::kBytes:
        return Value(ToBytes(item.bytes));
      case CborKind::kText:
        return Value(item.bytes);
      case CborKind::kBool:
        return Value(item.argument != 0);
      case CborKind::kDouble:
        return Value(item.number);
      case CborKind::kArray:
        return List(item.argument, depth);
      case CborKind::kMap:
        return Map(item.argument, depth);
      case CborKind::kTag:
        return Tagged(item.argument, depth);
      case CborKind::kNull:
      case CborKind::kEnd:
        break;
    }
    return Value();
  }

 private:
  static Value::Bytes ToBytes(std::string_view bytes) { return CopyBytes(AsBytes(bytes)); }

  // The integer -1 - n.
  static Value Negative(std::uint64_t n) {
    if (n <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return Value(static_cast<std::int64_t>(~n));
    }
    if (n == std::numeric_limits<std::uint64_t>::max()) {
      return Value(BigInt{true, {std::byte{1}, {}, {}, {}, {}, {}, {}, {}, {}}});
    }
    BigInt big = Value(n + 1).as_big_int();
    big.negative = true;
    return Value(std::move(big));
  }

  Value List(std::uint64_t count, std::size_t depth) {
    Value::List list;
    list.reserve(
        std::min<std::uint64_t>(count, 1024));  // grows with what arrives, not with what was announced
    for (std::uint64_t i = 0; i < count && reader_.ok(); ++i) list.push_back(Read(depth + 1));
    return Value(std::move(list));
  }

  Value Map(std::uint64_t count, std::size_t depth) {
    Value::Map map;
    map.reserve(std::min<std::uint64_t>(count, 1024));
    for (std::uint64_t i = 0; i < count && reader_.ok(); ++i) {
      Value key = Read(depth + 1);
      map.emplace_back(std::move(key), Read(depth + 1));
    }
    return Value(std::move(map));
  }

  Value Tagged(std::uint64_t tag, std::size_t depth) {
    if (tag == kTagPositiveBigInt || tag == kTagNegativeBigInt) return ReadBigInt(tag == kTagNegativeBigInt);
    const auto form = FormOfTag(tag);
    if (!form) return reader_.Fault(fmt::format("unknown tag {}", tag)), Value();
    return Value(*form, Read(depth + 1));
  }

  Value ReadBigInt(bool negative) {
    const CborItem item = reader_.Next();
    if (item.kind != CborKind::kBytes) return reader_.Fault("an integer without its bytes"), Value();
    if (item.bytes.size() > BigInt::kMaxMagnitudeBytes)
      return reader_.Fault("an integer that is too large"), Value();
    BigInt big{negative, ToBytes(item.bytes)};
    if (negative) AddOne(big.magnitude);
    std::size_t zeros = 0;
    while (zeros < big.magnitude.size() && big.magnitude[zeros] == std::byte{0}) ++zeros;
    big.magnitude.erase(big.magnitude.begin(), big.magnitude.begin() + static_cast<std::ptrdiff_t>(zeros));
    return Value(std::move(big));
  }

  static void AddOne(Value::Bytes& magnitude) {
    for (auto byte = magnitude.rbegin(); byte != magnitude.rend(); ++byte) {
      *byte = static_cast<std::byte>(std::to_integer<unsigned>(*byte) + 1);
      if (*byte != std::byte{0}) return;
    }
    magnitude.insert(magnitude.begin(), std::byte{1});
  }

  CborReader& reader_;
};

void WriteBigInt(CborWriter& writer, const BigInt& big) {
  Value::Bytes magnitude = big.magnitude;
  if (big.negative) {  // RFC 8949: the bytes hold magnitude - 1
    for (auto byte = magnitude.rbegin(); byte != magnitude.rend(); ++byte) {
      const bool borrow = *byte == std::byte{0};
      *byte = static_cast<std::byte>(std::to_integer<unsigned>(*byte) - 1);
      if (!borrow) break;
    }
  }
  writer.Tag(big.negative ? kTagNegativeBigInt : kTagPositiveBigInt);
  writer.Bytes(magnitude);
}

// Counts as CborReader counts.
class CrossingCheck {
 public:
  explicit CrossingCheck(WireLimits limits) : limits_(limits) {}

  Status Check(const Value& value, std::size_t depth) {
    if (depth > limits_.max_depth)
      return TooLarge("it is nested more than {} levels deep", limits_.max_depth);
    RETURN_IF_ERROR(Count(value));
    if (value.is_list()) {
      for (const Value& item : value.as_list()) RETURN_IF_ERROR(Check(item, depth + 1));
    } else if (value.is_map()) {
      for (const auto& [key, item] : value.as_map()) {
        RETURN_IF_ERROR(Check(key, depth + 1));
        RETURN_IF_ERROR(Check(item, depth + 1));
      }
    } else if (value.is_extended()) {
      return Check(value.payload(), depth + 1);
    }
    return {};
  }

 private:
  static constexpr std::size_t kMostHeadBytes = 9;

  Status Count(const Value& value) {
    items_ += value.is_big_int() ? 2 : 1;
    bytes_ += kMostHeadBytes;
    if (value.is_text()) {
      if (!IsValidUtf8(value.as_text()))
        return Fail(ErrorCode::kInvalidArgument, "a text in it is not valid UTF-8");
      bytes_ += value.as_text().size();
    } else if (value.is_bytes()) {
      bytes_ += value.as_bytes().size();
    } else if (value.is_big_int()) {
      const std::size_t size = value.as_big_int().magnitude.size();
      if (size > BigInt::kMaxMagnitudeBytes) {
        return TooLarge("an integer in it has more than {} bytes", BigInt::kMaxMagnitudeBytes);
      }
      bytes_ += size;
    }
    if (items_ > limits_.max_items) return TooLarge("it has more than {} items", limits_.max_items);
    if (bytes_ > limits_.max_bytes) return TooLarge("it has more than {} bytes", limits_.max_bytes);
    return {};
  }

  static Status TooLarge(fmt::format_string<std::size_t&> what, std::size_t limit) {
    return Fail(ErrorCode::kResourceExhausted, fmt::format(what, limit));
  }

  WireLimits limits_;
  std::size_t items_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace

void WriteValue(CborWriter& writer, const Value& value) {
  if (value.is_null()) return writer.Null();
  if (value.is_bool()) return writer.Bool(value.as_bool());
  if (value.is_int()) return writer.Int(value.as_int());
  if (value.is_big_int()) return WriteBigInt(writer, value.as_big_int());
  if (value.is_double()) return writer.Double(value.as_double());
  if (value.is_text()) return writer.Text(value.as_text());
  if (value.is_bytes()) return writer.Bytes(value.as_bytes());
  if (value.is_list()) {
    writer.ArrayHead(value.as_list().size());
    for (const Value& item : value.as_list()) WriteValue(writer, item);
  } else if (value.is_map()) {
    writer.MapHead(value.as_map().size());
    for (const auto& [key, item] : value.as_map()) {
      WriteValue(writer, key);
      WriteValue(writer, item);
    }
  } else {
    writer.Tag(TagOf(value.as_extended().form));
    WriteValue(writer, value.payload());
  }
}

Status CheckCrossable(const Value& value, WireLimits limits) { return CrossingCheck(limits).Check(value, 0); }

std::string EncodeValue(const Value& value) {
  CborWriter writer;
  WriteValue(writer, value);
  return writer.Take();
}

std::uint64_t SharedBytesOf(std::string_view encoded, const SharedView& shared, SharedBytes then) {
  // Most values have none, and this finds out without reading them.
  static constexpr std::string_view kHead = "\xd9\x9c\xa3";
  static_assert(kTagShared == 0x9ca3);
  if (encoded.find(kHead) == std::string_view::npos) return 0;
  CborReader reader(encoded, {}, &shared);
  while (reader.ok() && !reader.AtEnd()) reader.Next();
  if (then == SharedBytes::kCount) reader.Keep();
  return reader.shared_bytes();
}

Result<Value> ReadValue(CborReader& reader) {
  Value value = ValueReader(reader).Read(0);
  if (!reader.ok()) return Fail(ErrorCode::kProtocol, reader.error());
  return value;
}

Result<Value> DecodeValue(std::string_view encoded, WireLimits limits) {
  if (encoded.size() > limits.max_bytes) {
    return Fail(ErrorCode::kProtocol, fmt::format("a value of {} bytes, more than the {} allowed",
                                                  encoded.size(), limits.max_bytes));
  }
  CborReader reader(encoded, limits);
  ASSIGN_OR_RETURN(Value value, ReadValue(reader));
  if (!reader.AtEnd()) return Fail(ErrorCode::kProtocol, "bytes after the end of a value");
  return value;
}

}  // namespace gloveport
