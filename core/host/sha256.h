// SHA-256 of texts and values: what decisions and records refer to.
#ifndef GLOVEPORT_CORE_HOST_SHA256_H_
#define GLOVEPORT_CORE_HOST_SHA256_H_

#include <memory>
#include <string>
#include <string_view>

namespace gloveport {

// 64 hex digits, lower case.
std::string Sha256Hex(std::string_view bytes);

// Of bytes that come in parts. Not thread-safe.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void Add(std::string_view bytes);
  std::string TakeHex();  // and begins anew

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_SHA256_H_
