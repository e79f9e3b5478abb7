#include "speech.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hostile {

std::string Head(unsigned major, std::uint64_t argument) {
  std::string head;
  if (argument < 24) return {static_cast<char>(major << 5 | argument)};
  head.push_back(static_cast<char>(major << 5 | 27));
  for (int shift = 56; shift >= 0; shift -= 8) head.push_back(static_cast<char>(argument >> shift & 0xFF));
  return head;
}

std::string Number(std::uint64_t number) { return Head(0, number); }
std::string Text(std::string_view text) { return Head(3, text.size()) + std::string(text); }
std::string Bytes(std::string_view bytes) { return Head(2, bytes.size()) + std::string(bytes); }

std::string Array(const std::vector<std::string>& items) {
  std::string array = Head(4, items.size());
  for (const std::string& item : items) array += item;
  return array;
}

std::string Map(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string map = Head(5, members.size());
  for (const auto& [key, value] : members) map += Text(key) + value;
  return map;
}

std::string Ready() { return Array({Number(32), Bytes(Map({{"own_root", Bool(true)}}))}); }

std::string CellDone(std::uint32_t cell, std::string_view status, const std::string& value) {
  return Array(
      {Number(38), Number(cell), Text(status), Bytes(value), Text("repr"), Text("type"), Bytes(Null())});
}

std::string FinalAnswer(std::uint32_t cell, const std::string& value) {
  return Array({Number(35), Number(cell), Bytes(value), Text("repr"), Text("why")});
}

std::string ToolCall(std::uint64_t call, std::uint32_t cell, std::string_view name) {
  return Array({Number(34), Number(call), Number(cell), Text(name), Bytes(Map({}))});
}

std::string Display(std::uint32_t cell, const std::string& bundle) {
  return Array({Number(36), Number(cell), Bytes(bundle)});
}

std::string Event(std::string_view kind, const std::string& details) {
  return Array({Number(37), Text(kind), Bytes(details)});
}

std::string Reply(std::uint64_t id, const std::string& value) {
  return Array({Number(39), Number(id), Bool(true), Bytes(value), Text(""), Text("")});
}

std::string SetupFailed(std::string_view message) {
  return Array({Number(33), Text("confinement"), Text(message)});
}

bool SendWithFds(int socket, std::string_view bytes, const std::vector<int>& fds) {
  alignas(cmsghdr) char control[CMSG_SPACE(253 * sizeof(int))] = {};
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) >= 0;
}

std::string ReceiveWithFds(int socket, std::vector<int>& fds) {
  static char buffer[256 * 1024];
  alignas(cmsghdr) char control[CMSG_SPACE(16 * sizeof(int))];
  iovec part{buffer, sizeof buffer};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(socket, &message, 0);
  if (size <= 0) return {};
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    fds.resize(count);
    std::memcpy(fds.data(), CMSG_DATA(header), count * sizeof(int));
  }
  return {buffer, static_cast<std::size_t>(size)};
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

void WaitForever() {
  while (true) ::pause();
}

}  // namespace hostile
