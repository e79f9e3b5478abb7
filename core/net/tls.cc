#include "gloveport/core/net/tls.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>

namespace gloveport {
namespace {

// OpenSSL's own words for the newest error of this thread; the queue is empty afterwards.
std::string TakeOpenSslError() {
  const unsigned long code = ::ERR_peek_last_error();
  const char* reason = ::ERR_reason_error_string(code);
  ::ERR_clear_error();
  return reason ? reason : "unknown error";
}

struct SslDeleter {
  void operator()(SSL* ssl) const { ::SSL_free(ssl); }
};

// OpenSSL works on two memory buffers, and this class moves bytes between them and the transport: so every
// wait obeys the deadline of the exchange, and no write can raise SIGPIPE.
class TlsStream : public ByteStream {
 public:
  TlsStream(std::unique_ptr<ByteStream> transport, SSL* ssl)
      : transport_(std::move(transport)),
        ssl_(ssl),
        incoming_(::BIO_new(::BIO_s_mem())),
        outgoing_(::BIO_new(::BIO_s_mem())) {
    ::BIO_set_mem_eof_return(incoming_, -1);  // empty means "not yet", not the end
    ::SSL_set_bio(ssl_.get(), incoming_, outgoing_);
  }

  Status Handshake() {
    while (true) {
      ::ERR_clear_error();
      const int done = ::SSL_connect(ssl_.get());
      const int reason = ::SSL_get_error(ssl_.get(), done);
      auto flushed = Flush();
      if (done == 1) return flushed;
      if (reason != SSL_ERROR_WANT_READ)
        return HandshakeFailed();  // an alert may not have got through: no matter
      RETURN_IF_ERROR(flushed);
      ASSIGN_OR_RETURN(const bool more, Fill());
      if (!more) return Fail(ErrorCode::kIo, "the connection was closed in the middle of the TLS handshake");
    }
  }

  Result<std::size_t> Read(std::span<char> buffer) override {
    while (true) {
      ::ERR_clear_error();
      std::size_t n = 0;
      const int done = ::SSL_read_ex(ssl_.get(), buffer.data(), buffer.size(), &n);
      if (done == 1) return n;
      const int reason = ::SSL_get_error(ssl_.get(), done);
      if (reason == SSL_ERROR_ZERO_RETURN) return std::size_t{0};
      if (reason != SSL_ERROR_WANT_READ) return Broken();
      RETURN_IF_ERROR(Flush());
      ASSIGN_OR_RETURN(const bool more, Fill());
      // Without TLS's own end anybody on the way may have cut the text: that is no orderly end.
      if (!more) return Fail(ErrorCode::kIo, "the connection was cut");
    }
  }

  Status Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      ::ERR_clear_error();
      std::size_t n = 0;
      const std::string_view piece = bytes.substr(0, 1 << 20);
      const int done = ::SSL_write_ex(ssl_.get(), piece.data(), piece.size(), &n);
      if (done != 1) return Broken();  // the outgoing buffer grows as needed: this never has to wait
      bytes.remove_prefix(n);
      RETURN_IF_ERROR(Flush());
    }
    return {};
  }

 private:
  Status Flush() {
    char* data = nullptr;
    const long size = ::BIO_get_mem_data(outgoing_, &data);
    if (size <= 0) return {};
    auto written = transport_->Write({data, static_cast<std::size_t>(size)});
    (void)BIO_reset(outgoing_);
    return written;
  }

  // Returns false at the end of the transport.
  Result<bool> Fill() {
    std::array<char, 16384> buffer;
    ASSIGN_OR_RETURN(const std::size_t n, transport_->Read(buffer));
    if (n == 0) return false;
    if (::BIO_write(incoming_, buffer.data(), static_cast<int>(n)) != static_cast<int>(n)) {
      return Fail(ErrorCode::kInternal, "no memory for the TLS buffer");
    }
    return true;
  }

  Status HandshakeFailed() {
    const long verdict = ::SSL_get_verify_result(ssl_.get());
    const std::string reason = TakeOpenSslError();
    if (verdict != X509_V_OK) {
      return Fail(
          ErrorCode::kProtocol,
          fmt::format("the server's certificate is refused: {}", ::X509_verify_cert_error_string(verdict)),
          "check the host; SSL_CERT_FILE can name the certificate of a private authority");
    }
    return Fail(ErrorCode::kProtocol, fmt::format("the TLS handshake failed: {}", reason),
                "check that the server speaks https on this port");
  }

  tl::unexpected<Error> Broken() {
    return Fail(ErrorCode::kIo, fmt::format("the TLS connection broke: {}", TakeOpenSslError()));
  }

  std::unique_ptr<ByteStream> transport_;
  std::unique_ptr<SSL, SslDeleter> ssl_;
  BIO* incoming_;  // both are ssl_'s
  BIO* outgoing_;
};

bool IsAddress(const std::string& host) {
  unsigned char buffer[sizeof(in6_addr)];
  return ::inet_pton(AF_INET, host.c_str(), buffer) == 1 || ::inet_pton(AF_INET6, host.c_str(), buffer) == 1;
}

// Only a certificate for this host will do.
bool ExpectHost(SSL* ssl, const std::string& host) {
  if (IsAddress(host)) return ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(ssl), host.c_str()) == 1;
  ::SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return ::SSL_set1_host(ssl, host.c_str()) == 1 && SSL_set_tlsext_host_name(ssl, host.c_str()) == 1;
}

}  // namespace

Result<std::shared_ptr<const TlsContext>> TlsContext::Make(const std::string& ca_file) {
  ::ERR_clear_error();
  SSL_CTX* context = ::SSL_CTX_new(::TLS_client_method());
  if (!context) return Fail(ErrorCode::kInternal, fmt::format("cannot set up TLS: {}", TakeOpenSslError()));
  std::shared_ptr<const TlsContext> made(new TlsContext(context));
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  const bool loaded = ca_file.empty() ? ::SSL_CTX_set_default_verify_paths(context) == 1
                                      : ::SSL_CTX_load_verify_file(context, ca_file.c_str()) == 1;
  if (!loaded) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("cannot load trusted certificates{}{}: {}", ca_file.empty() ? "" : " from ",
                            ca_file, TakeOpenSslError()),
                "install the package ca-certificates, or name a readable PEM file");
  }
  return made;
}

TlsContext::~TlsContext() { ::SSL_CTX_free(static_cast<SSL_CTX*>(context_)); }

Result<std::unique_ptr<ByteStream>> TlsContext::Connect(std::unique_ptr<ByteStream> transport,
                                                        const std::string& host, IoWait& wait) const {
  wait.set_phase("making the TLS handshake");
  ::ERR_clear_error();
  SSL* ssl = ::SSL_new(static_cast<SSL_CTX*>(context_));
  if (!ssl) return Fail(ErrorCode::kInternal, fmt::format("cannot set up TLS: {}", TakeOpenSslError()));
  auto stream = std::make_unique<TlsStream>(std::move(transport), ssl);
  if (!ExpectHost(ssl, host)) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} is no name that a certificate can have", host));
  }
  RETURN_IF_ERROR(stream->Handshake());
  return std::unique_ptr<ByteStream>(std::move(stream));
}

}  // namespace gloveport
