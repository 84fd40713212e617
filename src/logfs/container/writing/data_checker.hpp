#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/crc32c.hpp"

namespace halcyon::logfs {

/// Sums over what was appended to a data dropping: one sum for some 64 KiB, and for what remains at a sync.
class data_checker {
  public:
    static constexpr int64_t most_bytes = 65536;

    void add(std::span<const std::byte> bytes) {
        sum_ = crc32c(bytes, sum_);
        bytes_ += static_cast<int64_t>(bytes.size());
    }
    [[nodiscard]] bool is_full() const { return bytes_ >= most_bytes; }
    [[nodiscard]] int64_t bytes() const { return bytes_; }
    [[nodiscard]] uint32_t sum() const { return sum_; }
    void begin_next() {
        bytes_ = 0;
        sum_ = 0;
    }

  private:
    int64_t bytes_ = 0;
    uint32_t sum_ = 0;
};

}  // namespace halcyon::logfs
