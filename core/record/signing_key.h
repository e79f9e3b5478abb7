// Ed25519 keys that sign the head of an audit log (RFC 8032), as PEM files (RFC 8410) that openssl reads and
// writes too: `openssl genpkey -algorithm ed25519 -out key.pem`, `openssl pkey -in key.pem -pubout -out
// key.pub`.
#ifndef GLOVEPORT_CORE_RECORD_SIGNING_KEY_H_
#define GLOVEPORT_CORE_RECORD_SIGNING_KEY_H_

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"

namespace gloveport {

// Immutable; may be used from any thread.
class SigningKey {
 public:
  // A private key, or a public one, which can verify only. kNotFound, kInvalidArgument.
  static Result<SigningKey> Load(const std::filesystem::path& pem);
  // Writes a new private key (mode 0600) and, beside it, its public one as FILE.pub. kIo where either exists.
  static Status Generate(const std::filesystem::path& pem);

  // Hex SHA-256 of the public key's 32 bytes.
  const std::string& id() const { return id_; }
  bool is_private() const { return is_private_; }

  Result<std::string> Sign(std::string_view message) const;  // base64; kInvalidArgument with a public key
  bool Verify(std::string_view message, std::string_view signature_base64) const;

 private:
  SigningKey() = default;
  std::shared_ptr<void> key_;  // EVP_PKEY
  std::string id_;
  bool is_private_ = false;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_RECORD_SIGNING_KEY_H_
