// What a child says on the wire, written once more and by hand: the hostile children share nothing with the
// product, so that a mistake in its encoder cannot hide one in its decoder.
#ifndef GLOVEPORT_TESTS_TESTCASES_SPEECH_H_
#define GLOVEPORT_TESTS_TESTCASES_SPEECH_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hostile {

// ---- CBOR ----

std::string Head(unsigned major, std::uint64_t argument);
std::string Number(std::uint64_t number);
std::string Text(std::string_view text);
std::string Bytes(std::string_view bytes);
std::string Array(const std::vector<std::string>& items);
std::string Map(const std::vector<std::pair<std::string, std::string>>& members);  // text keys
inline std::string Null() { return "\xf6"; }
inline std::string Bool(bool value) { return value ? "\xf5" : "\xf4"; }

// ---- messages of a session: an array with the type first ----

std::string Ready();
std::string CellDone(std::uint32_t cell, std::string_view status, const std::string& value);
std::string FinalAnswer(std::uint32_t cell, const std::string& value);
std::string ToolCall(std::uint64_t call, std::uint32_t cell, std::string_view name);
std::string Display(std::uint32_t cell, const std::string& bundle);
std::string Event(std::string_view kind, const std::string& details);
std::string Reply(std::uint64_t id, const std::string& value);
std::string SetupFailed(std::string_view message);

// ---- the rings ----

constexpr std::uint32_t kRingBytes = 64 * 1024;
constexpr std::uint32_t kOnSocket = 0xFFFF'FFFF;

struct Ring {
  alignas(128) std::atomic<std::uint32_t> head;
  alignas(128) std::atomic<std::uint32_t> tail;
  alignas(128) std::atomic<std::uint32_t> asleep;
  std::atomic<std::int32_t> reader_cpu;
  alignas(128) unsigned char data[kRingBytes];
};

struct Rings {
  Ring to_session;
  Ring to_host;
};

// ---- descriptors ----

// One packet or piece of a stream with descriptors beside it. False where the peer has gone.
bool SendWithFds(int socket, std::string_view bytes, const std::vector<int>& fds);
// Empty where the peer has gone.
std::string ReceiveWithFds(int socket, std::vector<int>& fds);
bool WriteAll(int fd, std::string_view bytes);

[[noreturn]] void WaitForever();

}  // namespace hostile

#endif  // GLOVEPORT_TESTS_TESTCASES_SPEECH_H_
