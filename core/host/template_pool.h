// TemplatePool: the warm templates of a runtime, one per policy image, started when first asked for.
#ifndef GLOVEPORT_CORE_HOST_TEMPLATE_POOL_H_
#define GLOVEPORT_CORE_HOST_TEMPLATE_POOL_H_

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/patience.h"
#include "gloveport/core/host/spawner.h"
#include "gloveport/core/host/template_process.h"

namespace gloveport {

class TemplatePool {
 public:
  explicit TemplatePool(std::filesystem::path interp, Patience patience = {},
                        Imports imports = Imports::kAhead)
      : interp_(std::move(interp)), patience_(patience), imports_(imports) {}

  const Patience& patience() const { return patience_; }
  const std::filesystem::path& program() const { return interp_; }

  // A live template for these options; one that has died is replaced. Thread-safe: two callers that ask for
  // the same image wait for one start.
  Result<std::shared_ptr<TemplateProcess>> Get(const TemplateOptions& options);

  // The same for options that can share a template.
  static std::string KeyOf(const TemplateOptions& options);

  // Starts one that the pool does not keep: for folders that belong to one session.
  Result<std::shared_ptr<TemplateProcess>> StartPrivate(TemplateOptions options);

 private:
  struct Entry {
    std::mutex mutex;  // held over the start
    std::shared_ptr<TemplateProcess> process;
  };
  // Of templates with a hash seed of their own, of which each seed needs another, those that were asked for
  // last are kept.
  static constexpr std::size_t kMaxSeeded = 4;

  // With mutex_ held: the entry that goes, if one must.
  std::shared_ptr<Entry> MakeRoomFor(const std::string& key);

  const std::filesystem::path interp_;
  const Patience patience_;
  const Imports imports_;  // of all templates, whatever their options say
  Spawner spawner_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;
  std::vector<std::string> seeded_;  // keys, the last asked for behind
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_TEMPLATE_POOL_H_
