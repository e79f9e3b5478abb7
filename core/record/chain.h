// The hash chain of an audit log: one JSON object a line, each with the SHA-256 of itself and of the one
// before.
//
//   {"seq":3,"time":"...","kind":"cell",...,"prev":HASH OF LINE 2,"hash":HASH OF THIS LINE}
//
// `hash` covers the bytes of the line up to, and without, `,"hash":`. FORMAT.md has the members.
#ifndef GLOVEPORT_CORE_RECORD_CHAIN_H_
#define GLOVEPORT_CORE_RECORD_CHAIN_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

inline constexpr std::size_t kHashDigits = 64;
inline constexpr std::size_t kMaxRecordBytes = 64u << 20;

// What the first record has in the place of a hash before it.
std::string ChainStart();

struct ChainHead {
  std::uint64_t next_seq = 0;
  std::string hash = ChainStart();
};

// The line of one record, newline included, and moves the head. `body` is an object; seq, prev and hash are
// added.
std::string MakeRecord(ChainHead& head, const Json& body);

// What a signature of the head covers: the records before it, not the time of its own. `context` tells a seal
// from a signature on the way.
inline constexpr std::string_view kHeadContext = "gloveport audit head";
inline constexpr std::string_view kSealContext = "gloveport audit seal";
std::string SignedText(std::string_view context, const ChainHead& head);

struct ChainedRecord {
  std::uint64_t seq = 0;
  std::string hash;
  Json body;  // the whole object
};

// Reads one line, without its newline, and checks its own hash. kProtocol says what is wrong with it.
Result<ChainedRecord> ReadRecord(std::string_view line);
// Whether `record` may follow `head`; moves the head if so.
Status Follow(ChainHead& head, const ChainedRecord& record);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_RECORD_CHAIN_H_
