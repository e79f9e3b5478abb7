#include "gloveport/core/host/session_pool.h"

#include <optional>

namespace gloveport {
namespace {

constexpr std::size_t kMaxDiscarded = 64;
// Who took a session wants to run its first cell now: a fork at the same moment would only be in the way.
// Meanwhile whoever comes next forks for himself, which takes no longer than to wait for one.
constexpr std::chrono::milliseconds kQuietTime{3};
constexpr std::size_t kMaxImages = 16;  // images beyond that fork when asked

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
  discarding_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (undertaker_.joinable()) undertaker_.join();
}

void SessionPool::Discard(std::unique_ptr<SessionProcess> process) {
  process->Kill();
  const std::lock_guard lock(
      mutex_);  // goes before `process`: who makes too many waits for its end, unlocked
  if (discarded_.size() >= kMaxDiscarded) return;
  if (!undertaker_.joinable()) undertaker_ = std::thread([this] { Bury(); });
  discarded_.push_back(std::move(process));
  discarding_.notify_one();
}

void SessionPool::Bury() {
  std::unique_lock lock(mutex_);
  while (true) {
    discarding_.wait(lock, [this] { return stopping_ || !discarded_.empty(); });
    if (discarded_.empty()) return;
    std::unique_ptr<SessionProcess> process = std::move(discarded_.front());
    discarded_.pop_front();
    lock.unlock();
    process.reset();  // waits for its end
    lock.lock();
  }
}

std::unique_ptr<SessionProcess> SessionPool::TakeReady(const TemplateOptions& options) {
  const std::lock_guard lock(mutex_);
  Image* found = Find(options);
  if (!found && (min_ready_ == 0 || images_.size() >= kMaxImages)) return nullptr;
  Image& image = found ? *found : images_.emplace_back(Image{options, {}, false});
  std::unique_ptr<SessionProcess> process;
  quiet_until_ = Deadline::After(kQuietTime);
  while (!process && !image.ready.empty()) {
    process = std::move(image.ready.front());
    image.ready.pop_front();
    if (process->HasEnded()) process.reset();
  }
  return process;
}

Result<std::unique_ptr<SessionProcess>> SessionPool::Take(const TemplateOptions& options,
                                                          std::optional<std::uint64_t> seed) {
  auto ready = seed ? nullptr : TakeReady(options);
  if (!ready) {
    ASSIGN_OR_RETURN(ready, StartNow(options, seed));
    MarkWorking(options);
  }
  wake_.notify_one();
  return ready;
}

Result<std::unique_ptr<SessionProcess>> SessionPool::StartNow(const TemplateOptions& options,
                                                              std::optional<std::uint64_t> seed) {
  ASSIGN_OR_RETURN(auto parent, templates_.Get(options));
  return SessionProcess::Start(std::move(parent), seed, Deadline::After(templates_.patience().session_start));
}

void SessionPool::MarkWorking(const TemplateOptions& options) {
  const std::lock_guard lock(mutex_);
  if (Image* image = Find(options)) image->works = true;
}

SessionPool::Image* SessionPool::Find(const TemplateOptions& options) {
  for (Image& image : images_) {
    const TemplateOptions& own = image.options;
    if (own.inspector == options.inspector && own.own_root == options.own_root &&
        own.workdir == options.workdir && own.hash_seed == options.hash_seed && own.policy == options.policy)
      return &image;
  }
  return nullptr;
}

SessionPool::Image* SessionPool::FindWanting() {
  for (Image& image : images_) {
    if (image.works && image.ready.size() < min_ready_) return &image;
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
    if (!quiet_until_.never()) wake_.wait_until(lock, quiet_until_.when(), [this] { return stopping_; });
    quiet_until_ = Deadline::Never();
    if (stopping_) return;
    const TemplateOptions options = image->options;
    lock.unlock();
    auto made = StartNow(options, std::nullopt);
    if (made && !options.inspector) {
      const auto patience = Deadline::After(templates_.patience().answer);
      if (const Status warm = (*made)->WarmUp(patience); !warm) made = tl::unexpected<Error>(warm.error());
    }
    lock.lock();
    image->works = made.has_value();                     // images are never erased, so the pointer holds
    if (made) image->ready.push_back(std::move(*made));  // else whoever asks next gets the error itself
  }
}

}  // namespace gloveport
