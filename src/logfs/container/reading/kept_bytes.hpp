#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"

namespace halcyon::logfs {

/// Bytes of the file that were read beyond what was asked for, for small reads that follow. They are what the file
/// shows for as long as the index is not taken anew: a log never writes over data.
class kept_bytes {
  public:
    explicit kept_bytes(memory_source& memory) : bytes_(memory) {}

    /// How many of those from `offset` on are here, and in `out`.
    size_t take(int64_t offset, std::span<std::byte> out) const {
        if (offset < begin_ || offset >= end_) return 0;
        const size_t bytes = std::min(out.size(), static_cast<size_t>(end_ - offset));
        std::memcpy(out.data(), bytes_.data() + (offset - begin_), bytes);
        return bytes;
    }

    /// To be filled, which has() says then. Empty: there is no memory.
    [[nodiscard]] std::span<std::byte> room(size_t bytes) {
        forget();
        if (!bytes_.resize(bytes)) return {};
        return bytes_.all();
    }
    /// What is in the room are so many bytes from `offset` on.
    void has(int64_t offset, size_t bytes) {
        begin_ = offset;
        end_ = offset + static_cast<int64_t>(bytes);
    }
    void forget() { begin_ = end_ = 0; }
    void release() {
        forget();
        bytes_.release();
    }

  private:
    page_array<std::byte> bytes_;
    int64_t begin_ = 0;
    int64_t end_ = 0;
};

}  // namespace halcyon::logfs
