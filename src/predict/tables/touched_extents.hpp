#pragma once

#include <array>
#include <cstdint>

namespace halcyon::predict {

/// Which bytes of a file were accessed since it was opened, as far as a few extents tell: with more of them the
/// smallest hole is taken for accessed.
class touched_extents {
  public:
    static constexpr uint32_t most = 40;

    void clear() { count_ = 0; }
    /// Bytes `begin` up to `end` were accessed.
    void add(int64_t begin, int64_t end);
    /// The first byte at or after `at` that was not.
    [[nodiscard]] int64_t next_hole(int64_t at) const;
    [[nodiscard]] uint32_t count() const { return count_; }

  private:
    struct extent {
        int64_t begin;
        int64_t end;
    };
    void close_smallest_hole();

    std::array<extent, most> extents_;  // in order, with holes between them
    uint32_t count_ = 0;
};

}  // namespace halcyon::predict
