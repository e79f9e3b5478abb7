// TLS for clients: the peer's certificate is always checked, against the system's authorities and the host's
// name.
#ifndef GLOVEPORT_CORE_NET_TLS_H_
#define GLOVEPORT_CORE_NET_TLS_H_

#include <memory>
#include <string>

#include "gloveport/core/base/result.h"
#include "gloveport/core/net/byte_stream.h"
#include "gloveport/core/net/io_wait.h"

namespace gloveport {

// The trusted authorities, loaded once. Thread-safe.
class TlsContext {
 public:
  // Trusts the authorities of the PEM file `ca_file` only, or, where that is empty, those of the system
  // (SSL_CERT_FILE and SSL_CERT_DIR name others, as for every program that uses OpenSSL).
  static Result<std::shared_ptr<const TlsContext>> Make(const std::string& ca_file);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // Makes the handshake over `transport`. kProtocol when the certificate does not belong to `host` or is not
  // trusted, or when the peer does not speak TLS 1.2 or later; errors of the transport as they are.
  Result<std::unique_ptr<ByteStream>> Connect(std::unique_ptr<ByteStream> transport, const std::string& host,
                                              IoWait& wait) const;

 private:
  explicit TlsContext(void* context) : context_(context) {}
  void* context_;  // SSL_CTX, so that OpenSSL's headers stay out of this one
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_NET_TLS_H_
