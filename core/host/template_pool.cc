#include "gloveport/core/host/template_pool.h"

#include <fmt/core.h>

#include "gloveport/policy/codec.h"

namespace gloveport {

std::string TemplatePool::KeyOf(const TemplateOptions& options) {
  return fmt::format("{}|{}|{}|{}|{}", options.inspector, options.own_root, options.workdir,
                     options.hash_seed ? std::to_string(*options.hash_seed) : "",
                     PolicyToJson(options.policy));
}

Result<std::shared_ptr<TemplateProcess>> TemplatePool::Get(const TemplateOptions& options) {
  std::shared_ptr<Entry> entry;
  std::shared_ptr<Entry> forgotten;  // ended unlocked, unless a session lives on of it
  {
    const std::lock_guard lock(mutex_);
    const std::string key = KeyOf(options);
    if (options.hash_seed) forgotten = MakeRoomFor(key);
    auto& slot = entries_[key];
    if (!slot) slot = std::make_shared<Entry>();
    entry = slot;
  }
  const std::lock_guard lock(entry->mutex);
  if (!entry->process || !entry->process->alive()) {
    ASSIGN_OR_RETURN(entry->process, StartPrivate(options));
  }
  return entry->process;
}

std::shared_ptr<TemplatePool::Entry> TemplatePool::MakeRoomFor(const std::string& key) {
  std::erase(seeded_, key);
  seeded_.push_back(key);
  if (seeded_.size() <= kMaxSeeded) return nullptr;
  const auto oldest = entries_.extract(seeded_.front());
  seeded_.erase(seeded_.begin());
  return oldest.empty() ? nullptr : oldest.mapped();
}

Result<std::shared_ptr<TemplateProcess>> TemplatePool::StartPrivate(TemplateOptions options) {
  options.imports = imports_;
  return TemplateProcess::Start(spawner_, interp_, options, patience_);
}

}  // namespace gloveport
