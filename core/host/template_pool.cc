#include "gloveport/core/host/template_pool.h"

#include <fmt/core.h>

#include "gloveport/policy/codec.h"

namespace gloveport {

std::string TemplatePool::KeyOf(const TemplateOptions& options) {
  return fmt::format("{}|{}|{}|{}", options.inspector, options.own_root, options.workdir,
                     PolicyToJson(options.policy));
}

Result<std::shared_ptr<TemplateProcess>> TemplatePool::Get(const TemplateOptions& options) {
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    auto& slot = entries_[KeyOf(options)];
    if (!slot) slot = std::make_shared<Entry>();
    entry = slot;
  }
  const std::lock_guard lock(entry->mutex);
  if (!entry->process || !entry->process->alive()) {
    ASSIGN_OR_RETURN(entry->process, StartPrivate(options));
  }
  return entry->process;
}

Result<std::shared_ptr<TemplateProcess>> TemplatePool::StartPrivate(TemplateOptions options) {
  options.imports = imports_;
  return TemplateProcess::Start(spawner_, interp_, options, patience_);
}

}  // namespace gloveport
