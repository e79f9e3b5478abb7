#include "gloveport/core/host/session_pool.h"

#include <poll.h>

#include <optional>

namespace gloveport {
namespace {

constexpr std::chrono::seconds kReadyTime{20};
constexpr std::size_t kMaxImages = 16;  // images beyond that fork when asked

bool HasEnded(const SessionProcess& process) {
  pollfd entry{process.pidfd(), POLLIN, 0};
  return ::poll(&entry, 1, 0) != 0;
}

}  // namespace

SessionPool::SessionPool(TemplatePool& templates, std::size_t min_ready)
    : templates_(templates), min_ready_(min_ready) {
  if (min_ready_ > 0) thread_ = std::thread([this] { Refill(); });
}

SessionPool::~SessionPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::unique_ptr<SessionProcess> SessionPool::TakeReady(const TemplateOptions& options) {
  const std::string key = TemplatePool::KeyOf(options);
  const std::lock_guard lock(mutex_);
  if (!images_.contains(key) && (min_ready_ == 0 || images_.size() >= kMaxImages)) return nullptr;
  Image& image = images_.try_emplace(key, Image{options, {}}).first->second;
  std::unique_ptr<SessionProcess> process;
  while (!process && !image.ready.empty()) {
    process = std::move(image.ready.front());
    image.ready.pop_front();
    if (HasEnded(*process)) process.reset();
  }
  return process;
}

Result<std::unique_ptr<SessionProcess>> SessionPool::Take(const TemplateOptions& options,
                                                          std::optional<std::uint64_t> seed) {
  auto ready = seed ? nullptr : TakeReady(options);
  if (!ready) {
    ASSIGN_OR_RETURN(auto parent, templates_.Get(options));
    ASSIGN_OR_RETURN(ready, SessionProcess::Start(std::move(parent), seed, Deadline::After(kReadyTime)));
  }
  wake_.notify_one();
  return ready;
}

SessionPool::Image* SessionPool::FindWanting() {
  for (auto& [key, image] : images_) {
    if (image.ready.size() < min_ready_) return &image;
  }
  return nullptr;
}

void SessionPool::Refill() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    Image* image = FindWanting();
    if (!image) {
      wake_.wait(lock);
      continue;
    }
    const TemplateOptions options = image->options;
    lock.unlock();
    auto made = [&]() -> Result<std::unique_ptr<SessionProcess>> {
      ASSIGN_OR_RETURN(auto parent, templates_.Get(options));
      return SessionProcess::Start(std::move(parent), std::nullopt, Deadline::After(kReadyTime));
    }();
    lock.lock();
    if (made) {
      image->ready.push_back(std::move(*made));  // images are never erased, so the pointer holds
    } else {
      wake_.wait_for(lock, std::chrono::seconds(1));  // whoever asks meanwhile gets the error itself
    }
  }
}

}  // namespace gloveport
