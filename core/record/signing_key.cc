#include "gloveport/core/record/signing_key.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/host/sha256.h"

namespace gloveport {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kSignatureBytes = 64;
constexpr std::size_t kMaxPemBytes = 64 << 10;

using Key = std::shared_ptr<EVP_PKEY>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

Key Own(EVP_PKEY* key) { return Key(key, EVP_PKEY_free); }

// A password is never asked for: an encrypted key is one that cannot be read.
int NoPassword(char*, int, int, void*) { return -1; }

Status WriteNew(const std::filesystem::path& path, mode_t mode, BIO* content) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(content, &data);
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!file) return FailErrno(fmt::format("cannot create {}", path.string()), errno);
  return WriteFull(file.get(), AsBytes({data, static_cast<std::size_t>(size)}), Deadline::Never());
}

}  // namespace

Result<SigningKey> SigningKey::Load(const std::filesystem::path& pem) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(pem, kMaxPemBytes));
  const auto open = [&] {
    return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free);
  };
  SigningKey key;
  Key read = Own(PEM_read_bio_PrivateKey(open().get(), nullptr, NoPassword, nullptr));
  key.is_private_ = read != nullptr;
  if (!read) read = Own(PEM_read_bio_PUBKEY(open().get(), nullptr, NoPassword, nullptr));
  if (!read || EVP_PKEY_get_id(read.get()) != EVP_PKEY_ED25519)
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} holds no Ed25519 key in PEM form", pem.string()),
                "make one with `gloveport audit key FILE`; one with a password cannot be used");
  std::array<unsigned char, kKeyBytes> bytes{};
  std::size_t size = bytes.size();
  if (EVP_PKEY_get_raw_public_key(read.get(), bytes.data(), &size) != 1)
    return Fail(ErrorCode::kInternal, "OpenSSL cannot give the public part of a key");
  key.id_ = Sha256Hex({reinterpret_cast<const char*>(bytes.data()), size});
  key.key_ = std::move(read);
  return key;
}

Status SigningKey::Generate(const std::filesystem::path& pem) {
  const Key key = Own(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  const Bio secret(BIO_new(BIO_s_mem()), BIO_free);
  const Bio open(BIO_new(BIO_s_mem()), BIO_free);
  if (!key || PEM_write_bio_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1 ||
      PEM_write_bio_PUBKEY(open.get(), key.get()) != 1)
    return Fail(ErrorCode::kInternal, "OpenSSL cannot make an Ed25519 key");
  RETURN_IF_ERROR(WriteNew(pem, 0600, secret.get()));
  return WriteNew(pem.string() + ".pub", 0644, open.get());
}

Result<std::string> SigningKey::Sign(std::string_view message) const {
  if (!is_private_) return Fail(ErrorCode::kInvalidArgument, "a public key cannot sign");
  const DigestContext context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::array<unsigned char, kSignatureBytes> signature{};
  std::size_t size = signature.size();
  auto* key = static_cast<EVP_PKEY*>(key_.get());
  if (!context || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key) != 1 ||
      EVP_DigestSign(context.get(), signature.data(), &size,
                     reinterpret_cast<const unsigned char*>(message.data()), message.size()) != 1)
    return Fail(ErrorCode::kInternal, "OpenSSL cannot sign");
  return EncodeBase64(std::as_bytes(std::span(signature.data(), size)));
}

bool SigningKey::Verify(std::string_view message, std::string_view signature_base64) const {
  const auto signature = DecodeBase64(signature_base64);
  const DigestContext context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  auto* key = static_cast<EVP_PKEY*>(key_.get());
  return signature && context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key) == 1 &&
         EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature->data()),
                          signature->size(), reinterpret_cast<const unsigned char*>(message.data()),
                          message.size()) == 1;
}

}  // namespace gloveport
