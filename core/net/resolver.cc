#include "gloveport/core/net/resolver.h"

#include <fmt/core.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>

#include "gloveport/core/base/fd_io.h"

namespace gloveport {
namespace {

struct Lookup {
  std::string host;
  std::string port;
  std::mutex mutex;  // held by the thread while it writes what follows
  int error = 0;
  int error_number = 0;  // where error is EAI_SYSTEM
  std::vector<SocketAddress> addresses;
  UniqueFd done;  // the write end of a pipe: closed when the thread is through
};

void Run(Lookup& lookup, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* list = nullptr;
  lookup.error = ::getaddrinfo(lookup.host.c_str(), lookup.port.c_str(), &hints, &list);
  lookup.error_number = errno;
  for (const addrinfo* entry = list; entry; entry = entry->ai_next) {
    if (entry->ai_addrlen > sizeof(sockaddr_storage)) continue;
    SocketAddress& address = lookup.addresses.emplace_back();
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.size = entry->ai_addrlen;
  }
  if (list) ::freeaddrinfo(list);
}

// A thread on which none of the host's signal handlers runs.
Status StartThread(std::shared_ptr<Lookup> lookup) {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  Status status;
  try {
    std::thread([lookup = std::move(lookup)] {
      {
        const std::lock_guard lock(lookup->mutex);
        Run(*lookup, 0);
      }
      lookup->done.reset();
    }).detach();
  } catch (const std::system_error& error) {
    status = FailErrno("cannot start a thread for the resolver", error.code().value());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status;
}

Result<std::vector<SocketAddress>> Outcome(Lookup& lookup) {
  const std::lock_guard lock(lookup.mutex);
  if (lookup.error == 0 && !lookup.addresses.empty()) return std::move(lookup.addresses);
  const std::string reason = lookup.error == EAI_SYSTEM ? std::generic_category().message(lookup.error_number)
                             : lookup.error == 0        ? "it has no address"
                                                        : ::gai_strerror(lookup.error);
  return Fail(ErrorCode::kIo, fmt::format("the name {} cannot be resolved: {}", lookup.host, reason),
              "check the spelling of the host and the network of this machine");
}

}  // namespace

Result<std::vector<SocketAddress>> Resolve(const std::string& host, std::uint16_t port, IoWait& wait) {
  auto lookup = std::make_shared<Lookup>();
  lookup->host = host;
  lookup->port = std::to_string(port);
  Run(*lookup, AI_NUMERICHOST);
  if (lookup->error == 0) return Outcome(*lookup);
  lookup->addresses.clear();
  wait.set_phase("resolving the name of the host");
  ASSIGN_OR_RETURN(Pipe pipe, MakePipe());
  lookup->done = std::move(pipe.write_end);
  RETURN_IF_ERROR(StartThread(lookup));
  RETURN_IF_ERROR(wait.For(pipe.read_end.get(), POLLIN));
  return Outcome(*lookup);
}

}  // namespace gloveport
