// SharedSpace: where large byte strings stand that go beside a frame instead of in it. One side puts them
// there, the other copies them out once, while it decodes the frame that names their places, and gives the
// place back.
//
// The other side may rewrite all of it at any time: places are checked, what is read is read once.
#ifndef GLOVEPORT_CORE_WIRE_SHARED_SPACE_H_
#define GLOVEPORT_CORE_WIRE_SHARED_SPACE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace gloveport {

inline constexpr std::size_t kSharedSpaceBytes =
    128u << 20;  // of each direction; what is not touched costs nothing
inline constexpr std::size_t kLeastSharedBytes = 64u << 10;  // smaller byte strings stay in their frame

// The receiver's end. Not thread-safe.
class SharedView {
 public:
  SharedView() = default;
  explicit SharedView(std::span<std::byte> memory) : memory_(memory) {}

  // Nothing where it is not within the space, or no place of it.
  std::optional<std::string_view> At(std::uint64_t at, std::uint64_t size) const;
  void GiveBack(std::uint64_t at) const;

  bool used() const { return used_; }
  // Gives the memory back to the system: the sender must not have anything in it.
  void Trim();

 private:
  std::span<std::byte> memory_;
  mutable bool used_ = false;
};

// The sender's end. Not thread-safe.
class SharedSpace {
 public:
  SharedSpace() = default;
  // The memory stays mapped longer than this.
  explicit SharedSpace(std::span<std::byte> memory) : memory_(memory) {}

  // Where the copy stands; nothing where there is no room, and the bytes go into the frame.
  std::optional<std::uint64_t> Put(std::span<const std::byte> bytes);
  // What was put there will not be named in a frame after all.
  void Withdraw(std::uint64_t at);

  SharedView AsView() const { return SharedView(memory_); }

  // Gives the memory back to the system if all places have been given back. Returns whether it was.
  bool Trim();

 private:
  struct Place {
    std::uint64_t begin = 0;  // of its header
    std::uint64_t end = 0;
  };
  void Reclaim();

  std::span<std::byte> memory_;
  std::vector<Place> places_;  // in use, by begin
  std::uint64_t touched_ = 0;  // bytes from the beginning that have been used since the last Trim
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_WIRE_SHARED_SPACE_H_
