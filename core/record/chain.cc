#include "gloveport/core/record/chain.h"

#include <fmt/core.h>

#include "gloveport/core/host/sha256.h"

namespace gloveport {
namespace {

constexpr std::string_view kHashMember = R"(,"hash":")";
constexpr std::string_view kEnd = R"("})";
constexpr std::size_t kTailBytes = kHashMember.size() + kHashDigits + kEnd.size();

bool IsHash(std::string_view text) {
  return text.size() == kHashDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Error Broken(std::string message) { return Error{ErrorCode::kProtocol, std::move(message), ""}; }

}  // namespace

std::string ChainStart() { return std::string(kHashDigits, '0'); }

std::string MakeRecord(ChainHead& head, const Json& body) {
  Json record = {{"seq", head.next_seq}};
  record.update(body);
  record["prev"] = head.hash;
  std::string line = DumpJson(record);
  line.pop_back();  // the brace, which comes after the hash
  head.hash = Sha256Hex(line);
  ++head.next_seq;
  line.append(kHashMember).append(head.hash).append(kEnd).append("\n");
  return line;
}

std::string SignedText(std::string_view context, const ChainHead& head) {
  return fmt::format("{}\n{}\n{}\n", context, head.next_seq, head.hash);
}

Result<ChainedRecord> ReadRecord(std::string_view line) {
  if (line.size() > kMaxRecordBytes) return tl::unexpected(Broken("it is longer than any record"));
  if (line.size() < kTailBytes) return tl::unexpected(Broken("it is too short to have a hash"));
  const std::string_view covered = line.substr(0, line.size() - kTailBytes);
  const std::string_view tail = line.substr(covered.size());
  const std::string_view hash = tail.substr(kHashMember.size(), kHashDigits);
  if (!tail.starts_with(kHashMember) || !tail.ends_with(kEnd) || !IsHash(hash))
    return tl::unexpected(Broken("it does not end with its hash"));
  if (Sha256Hex(covered) != hash) return tl::unexpected(Broken("its content does not fit its hash"));
  auto json = ParseJson(line, {.max_bytes = kMaxRecordBytes});
  if (!json) return tl::unexpected(Broken("it is no JSON: " + json.error().message));
  const auto seq = json->find("seq");
  const auto prev = json->find("prev");
  const auto kind = json->find("kind");
  if (!json->is_object() || seq == json->end() || !seq->is_number_unsigned() || prev == json->end() ||
      !prev->is_string() || kind == json->end() || !kind->is_string())
    return tl::unexpected(Broken("it lacks one of seq, kind and prev"));
  ChainedRecord record;
  record.seq = seq->get<std::uint64_t>();
  record.hash = std::string(hash);
  record.body = std::move(*json);
  return record;
}

Status Follow(ChainHead& head, const ChainedRecord& record) {
  if (record.seq != head.next_seq)
    return tl::unexpected(
        Broken(fmt::format("it is number {} where {} belongs: records were removed, added or moved",
                           record.seq, head.next_seq)));
  if (record.body["prev"] != head.hash)
    return tl::unexpected(Broken("it does not continue the record before it"));
  head.hash = record.hash;
  ++head.next_seq;
  return {};
}

}  // namespace gloveport
