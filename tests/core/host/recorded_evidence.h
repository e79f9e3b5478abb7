// A sink that keeps the evidence of cells, for tests.
#ifndef GLOVEPORT_TESTS_CORE_HOST_RECORDED_EVIDENCE_H_
#define GLOVEPORT_TESTS_CORE_HOST_RECORDED_EVIDENCE_H_

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "gloveport/core/host/event_sink.h"

namespace gloveport {

class RecordedEvidence : public EventSink {
 public:
  bool wants_counters() const override { return true; }
  void OnFileOpen(std::string_view, std::uint32_t, const FileOpen& open) override {
    const std::lock_guard lock(mutex_);
    opens_.push_back(open);
  }
  void OnImport(std::string_view, std::uint32_t, std::string_view module, bool allowed) override {
    const std::lock_guard lock(mutex_);
    imports_.emplace_back(module, allowed);
  }

  // "read /a", "create /b refused": what `source` has seen since it was last asked.
  std::vector<std::string> TakeOpens(std::string_view source) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> texts;
    for (const FileOpen& open : opens_) {
      if (open.source == source)
        texts.push_back(open.mode + " " + open.path + (open.allowed ? "" : " refused"));
    }
    std::erase_if(opens_, [&](const FileOpen& open) { return open.source == source; });
    return texts;
  }
  std::vector<std::pair<std::string, bool>> TakeImports() {
    const std::lock_guard lock(mutex_);
    return std::exchange(imports_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<FileOpen> opens_;
  std::vector<std::pair<std::string, bool>> imports_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_CORE_HOST_RECORDED_EVIDENCE_H_
