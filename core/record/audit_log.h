// AuditLog: an EventSink that writes what happens to a file as it happens: a chain of JSON lines (chain.h),
// readable offline and by other programs. FORMAT.md lists the records.
//
// Each record is one write to the file, made before the call that reports it returns: a host that is killed
// leaves every record but perhaps the last one whole. What a record says is redacted by the policy of its
// session first.
#ifndef GLOVEPORT_CORE_RECORD_AUDIT_LOG_H_
#define GLOVEPORT_CORE_RECORD_AUDIT_LOG_H_

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/event_sink.h"
#include "gloveport/core/record/signing_key.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

// To the disk's platter, or to the kernel: the first outlives a power cut, the second a killed program.
enum class AuditDurability { kKernel, kDisk };

struct AuditLogOptions {
  std::optional<SigningKey> key;  // private: signs the head at each end of a cell and the seal
  AuditDurability durability = AuditDurability::kKernel;
  std::size_t max_value_bytes =
      1u << 20;  // JSON text of one value; of a larger one only hash and size are kept
  // The same of what comes into a session from outside: files put, variables set, what tools answer. A replay
  // needs all of it.
  std::size_t max_input_bytes = 16u << 20;
  std::size_t max_text_bytes =
      4096;  // of an output or repr that is kept for readers, beside its hash and size
};

// Thread-safe.
class AuditLog : public EventSink {
 public:
  // Creates the file, for its owner alone. In a folder, or for a path that ends with '/', a name is made from
  // the time. kInvalidArgument where the file exists: evidence is not overwritten.
  static Result<std::shared_ptr<AuditLog>> Create(const std::filesystem::path& path,
                                                  AuditLogOptions options = {});

  // One that keeps nothing: `take` gets each record's members, one call at a time.
  static std::shared_ptr<AuditLog> Into(std::function<void(const Json&)> take, AuditLogOptions options = {});

  virtual const std::filesystem::path& path() const = 0;  // empty where there is no file
  virtual std::string head()
      const = 0;  // hash of the last record: keep it elsewhere, and a recomputed chain is found

  // A record of the program's own, for example the stop reason of an agent run. `kind` must not be one of
  // FORMAT.md's.
  virtual void Note(std::string_view kind, const Json& members) = 0;
  // The last record: nothing is missing behind it. Idempotent. The destructor leaves the end open.
  virtual Status Seal() = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_RECORD_AUDIT_LOG_H_
