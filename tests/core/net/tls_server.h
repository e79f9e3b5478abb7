// TlsServer: answers one https connection on 127.0.0.1, with a certificate of its own making.
#ifndef GLOVEPORT_TESTS_CORE_NET_TLS_SERVER_H_
#define GLOVEPORT_TESTS_CORE_NET_TLS_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>

namespace gloveport {

enum class TlsEnding { kOrderly, kCut };  // with TLS's own end of the stream, or without

class TlsServer {
 public:
  // `names` as OpenSSL writes them: "IP:127.0.0.1" or "DNS:example.org". `answer` is sent after the head of a
  // request.
  TlsServer(const std::string& names, std::string answer, TlsEnding ending = TlsEnding::kOrderly);
  ~TlsServer();

  std::uint16_t port() const;
  const std::string& certificate_file() const;  // PEM: the authority to trust
  std::string request() const;                  // what came; after the exchange

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_CORE_NET_TLS_SERVER_H_
