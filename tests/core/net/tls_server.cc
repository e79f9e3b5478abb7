#include "gloveport/tests/core/net/tls_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <mutex>
#include <thread>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/unique_fd.h"

namespace gloveport {
namespace {

// A certificate that is its own authority, for an hour.
X509* MakeCertificate(EVP_PKEY* key, const std::string& names) {
  X509* certificate = ::X509_new();
  ::X509_set_version(certificate, 2);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate), 1);
  ::X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  ::X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  ::X509_set_pubkey(certificate, key);
  X509_NAME* name = ::X509_get_subject_name(certificate);
  ::X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1,
                               -1, 0);
  ::X509_set_issuer_name(certificate, name);
  for (const auto& [nid, value] : {std::pair<int, std::string>{NID_subject_alt_name, names},
                                   std::pair<int, std::string>{NID_basic_constraints, "critical,CA:TRUE"}}) {
    X509_EXTENSION* extension = ::X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
    ::X509_add_ext(certificate, extension, -1);
    ::X509_EXTENSION_free(extension);
  }
  ::X509_sign(certificate, key, ::EVP_sha256());
  return certificate;
}

}  // namespace

struct TlsServer::State {
  std::string answer;
  TlsEnding ending = TlsEnding::kOrderly;
  std::string file;
  SSL_CTX* context = nullptr;
  UniqueFd listener;
  Pipe stop;
  std::uint16_t port = 0;
  mutable std::mutex mutex;
  std::string request;
  std::thread thread;

  void MakeContext(const std::string& names) {
    EVP_PKEY* key = ::EVP_EC_gen("P-256");
    X509* certificate = MakeCertificate(key, names);
    context = ::SSL_CTX_new(::TLS_server_method());
    ::SSL_CTX_use_certificate(context, certificate);
    ::SSL_CTX_use_PrivateKey(context, key);
    char path[] = "/tmp/gloveport-tls-XXXXXX";
    FILE* out = ::fdopen(::mkstemp(path), "w");
    ::PEM_write_X509(out, certificate);
    std::fclose(out);
    file = path;
    ::X509_free(certificate);
    ::EVP_PKEY_free(key);
  }

  void Listen() {
    listener.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listener.get(), 4) != 0) {
      std::abort();
    }
    ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port = ::ntohs(address.sin_port);
  }

  void Serve() {
    sigset_t pipe_signal;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
    pollfd entries[2] = {{listener.get(), POLLIN, 0}, {stop.read_end.get(), POLLIN, 0}};
    ::poll(entries, 2, -1);
    if (entries[1].revents != 0) return;
    UniqueFd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const timeval patience{20, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    SSL* ssl = ::SSL_new(context);
    ::SSL_set_fd(ssl, socket.get());
    if (::SSL_accept(ssl) == 1) Speak(ssl);
    ::SSL_free(ssl);
  }

  void Speak(SSL* ssl) {
    std::string text;
    char buffer[4096];
    while (text.find("\r\n\r\n") == std::string::npos) {
      const int n = ::SSL_read(ssl, buffer, sizeof buffer);
      if (n <= 0) break;
      text.append(buffer, static_cast<std::size_t>(n));
    }
    {
      const std::lock_guard lock(mutex);
      request = text;
    }
    ::SSL_write(ssl, answer.data(), static_cast<int>(answer.size()));
    if (ending == TlsEnding::kOrderly) ::SSL_shutdown(ssl);
  }
};

TlsServer::TlsServer(const std::string& names, std::string answer, TlsEnding ending)
    : state_(std::make_unique<State>()) {
  state_->answer = std::move(answer);
  state_->ending = ending;
  state_->MakeContext(names);
  state_->Listen();
  state_->stop = MakePipe().value();
  state_->thread = std::thread([state = state_.get()] { state->Serve(); });
}

TlsServer::~TlsServer() {
  state_->stop.write_end.reset();
  state_->thread.join();
  ::SSL_CTX_free(state_->context);
  ::unlink(state_->file.c_str());
}

std::uint16_t TlsServer::port() const { return state_->port; }
const std::string& TlsServer::certificate_file() const { return state_->file; }
std::string TlsServer::request() const {
  const std::lock_guard lock(state_->mutex);
  return state_->request;
}

}  // namespace gloveport
