#pragma once

#include <cstddef>
#include <cstring>

#include "calls/state/direct_call.hpp"

namespace halcyon::calls {

/// Room for a path, which may become as long as two of the kernel's: a short one lies in the object itself, a longer
/// one in pages. Threads and handlers of signals may have stacks of a few KiB.
class path_room {
  public:
    static constexpr size_t short_bytes = 512;

    path_room() = default;
    ~path_room() {
        if (pages_ != nullptr) direct::call(SYS_munmap, direct::address(pages_), static_cast<long>(pages_bytes_));
    }
    path_room(const path_room&) = delete;
    path_room& operator=(const path_room&) = delete;

    [[nodiscard]] char* text() { return pages_ != nullptr ? pages_ : short_; }
    [[nodiscard]] const char* text() const { return pages_ != nullptr ? pages_ : short_; }
    [[nodiscard]] size_t room() const { return pages_ != nullptr ? pages_bytes_ : short_bytes; }
    /// What is in it stays. False: there is no memory.
    [[nodiscard]] bool reserve(size_t bytes) {
        if (bytes <= room()) return true;
        char* const larger = static_cast<char*>(direct::map_memory(bytes));
        if (larger == nullptr) return false;
        std::memcpy(larger, text(), room());
        if (pages_ != nullptr) direct::call(SYS_munmap, direct::address(pages_), static_cast<long>(pages_bytes_));
        pages_ = larger;
        pages_bytes_ = bytes;
        return true;
    }

  private:
    char* pages_ = nullptr;
    size_t pages_bytes_ = 0;
    char short_[short_bytes];
};

/// The room gets what `put(text, room)` writes there: its length, without the 0 that ends it; 0: there is nothing. It
/// may have been cut off where it fills the room.
template <class Put>
size_t put_path(path_room& into, size_t longest, Put put) {
    const size_t length = put(into.text(), into.room());
    if (length + 1 < into.room()) return length;
    return into.reserve(longest) ? put(into.text(), into.room()) : 0;
}

}  // namespace halcyon::calls
