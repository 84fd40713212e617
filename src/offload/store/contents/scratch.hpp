#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace halcyon::offload {

/// Memory that grows, is never shrunk and never cleared.
class scratch {
  public:
    /// At least `bytes` bytes, 64-byte aligned; what they held is lost.
    std::span<std::byte> take(size_t bytes);

  private:
    struct free_bytes {
        void operator()(std::byte* p) const;
    };
    std::unique_ptr<std::byte, free_bytes> memory_;
    size_t capacity_ = 0;
};

}  // namespace halcyon::offload
