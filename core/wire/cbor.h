// The CBOR subset (RFC 8949) that host and child speak: definite lengths only, shortest heads accepted and
// written, text keys or any keys in maps, the tags of FORMAT.md, float64, bignums (tags 2 and 3). CborWriter
// and CborReader work item by item, so that the child can convert Python objects without a Value in between.
#ifndef GLOVEPORT_CORE_WIRE_CBOR_H_
#define GLOVEPORT_CORE_WIRE_CBOR_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/shared_space.h"
#include "gloveport/core/wire/value.h"

namespace gloveport {

// The CBOR tag of a form, and back (0 = none).
std::uint64_t TagOf(Form form);
std::optional<Form> FormOfTag(std::uint64_t tag);
inline constexpr std::uint64_t kTagPositiveBigInt = 2;
inline constexpr std::uint64_t kTagNegativeBigInt = 3;  // magnitude is -1-n, as in RFC 8949
inline constexpr std::uint64_t kTagShared =
    40'099;  // a byte string that stands in shared memory: [place, size]

class CborWriter {
 public:
  CborWriter() = default;
  // Large byte strings go into `shared`, which outlives this, as long as there is room.
  explicit CborWriter(SharedSpace* shared) : shared_(shared) {}
  ~CborWriter() { Truncate(0); }  // what was not taken is withdrawn
  CborWriter(const CborWriter&) = delete;
  CborWriter& operator=(const CborWriter&) = delete;

  void Null() { out_.push_back('\xf6'); }
  void Bool(bool b) { out_.push_back(b ? '\xf5' : '\xf4'); }
  void Int(std::int64_t i);
  void Unsigned(std::uint64_t i) { Head(0, i); }
  void Double(double d);
  void Text(std::string_view utf8);
  void Bytes(std::span<const std::byte> bytes);
  void BytesHead(std::size_t size) { Head(2, size); }  // `size` bytes must follow by Raw
  void ArrayHead(std::size_t items) { Head(4, items); }
  void MapHead(std::size_t pairs) { Head(5, pairs); }
  void Tag(std::uint64_t tag) { Head(6, tag); }
  void Raw(std::string_view encoded) { out_.append(encoded); }

  std::size_t size() const { return out_.size(); }
  std::size_t total_bytes() const { return out_.size() + shared_bytes_; }
  const std::string& str() const { return out_; }
  std::string Take() {
    in_shared_.clear();
    return std::move(out_);
  }
  void Clear() { Truncate(0); }
  void Truncate(std::size_t size);

 private:
  struct SharedBytes {
    std::size_t position = 0;  // in out_
    std::uint64_t place = 0;
    std::size_t size = 0;
  };
  bool PutShared(std::span<const std::byte> bytes);
  void Head(unsigned major, std::uint64_t argument);
  std::string out_;
  SharedSpace* shared_ = nullptr;
  std::vector<SharedBytes> in_shared_;
  std::size_t shared_bytes_ = 0;
};

enum class CborKind : std::uint8_t {
  kInt,
  kNegative,
  kBytes,
  kText,
  kArray,
  kMap,
  kTag,
  kBool,
  kNull,
  kDouble,
  kEnd
};

struct CborItem {
  CborKind kind = CborKind::kEnd;
  std::uint64_t argument =
      0;              // kInt: the value; kNegative: -1-value; kArray/kMap: count; kTag: tag; kBool: 0 or 1
  double number = 0;  // kDouble
  std::string_view bytes;  // kBytes, kText (checked to be UTF-8): a view into the input. Those of kBytes may
                           // stand in shared memory, so read them once
};

// Pulls one head after the other. The first fault sticks: Next() then returns kEnd and error() says what and
// where. Counts and lengths are checked against what is left of the input before anything is returned.
class CborReader {
 public:
  // `shared`, which outlives this, may be null: then nothing may stand in shared memory.
  explicit CborReader(std::string_view input, WireLimits limits = {}, const SharedView* shared = nullptr)
      : input_(input), limits_(limits), shared_(shared) {}
  ~CborReader();  // gives back what was read of the shared memory
  CborReader(const CborReader&) = delete;
  CborReader& operator=(const CborReader&) = delete;

  CborItem Next();
  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  bool AtEnd() const { return position_ == input_.size(); }
  std::size_t position() const { return position_; }
  std::size_t items() const { return items_; }  // heads read so far
  const WireLimits& limits() const { return limits_; }
  std::size_t shared_bytes() const { return shared_bytes_; }  // at most limits().max_bytes
  bool too_many_bytes() const { return too_many_bytes_; }     // of those in shared memory
  void Keep() { places_.clear(); }                            // somebody else will read them
  CborItem Fault(std::string_view what);  // records a fault that the caller found; returns kEnd

 private:
  CborItem NextShared();

  std::string_view input_;
  WireLimits limits_;
  const SharedView* shared_;
  std::vector<std::uint64_t> places_;
  std::size_t shared_bytes_ = 0;
  bool too_many_bytes_ = false;
  std::size_t position_ = 0;
  std::size_t items_ = 0;
  std::string error_;
};

// kResourceExhausted, saying which limit and by how much, where the value is too deep, has too many items or
// too many bytes; kInvalidArgument for text that is no UTF-8. What passes can be encoded and will be decoded.
Status CheckCrossable(const Value& value, WireLimits limits = {});

// `value` must be no deeper than the stack bears: ask CheckCrossable where it comes from elsewhere.
std::string EncodeValue(const Value& value);
// The bytes that a value has in shared memory besides `encoded`; gives them back if they are not to be read.
enum class SharedBytes { kCount, kGiveBack };
std::uint64_t SharedBytesOf(std::string_view encoded, const SharedView& shared, SharedBytes then);
void WriteValue(CborWriter& writer, const Value& value);
// Decodes exactly one value that fills the input. Total: every input gives a Value or a kProtocol error.
Result<Value> DecodeValue(std::string_view encoded, WireLimits limits = {});
Result<Value> ReadValue(CborReader& reader);  // one value at the reader's place

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_WIRE_CBOR_H_
