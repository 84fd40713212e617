#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace halcyon::offload {

/// The highest number of dimensions of a block.
inline constexpr int max_dimensions = 7;

/// A small list of up to seven 64-bit integers, in C order (slowest dimension first): a shape, an offset or a halo
/// width. Trivially copyable, so it may lie in shared memory.
struct extents {
    std::array<int64_t, max_dimensions> values{};
    int32_t rank = 0;

    extents() = default;
    extents(std::initializer_list<int64_t> list) {
        for (int64_t v : list) values[rank++] = v;
    }

    [[nodiscard]] std::span<const int64_t> span() const { return {values.data(), static_cast<size_t>(rank)}; }
    void push_back(int64_t v) { values[rank++] = v; }
    int64_t operator[](int i) const { return values[i]; }
    int64_t& operator[](int i) { return values[i]; }

    /// Number of elements; 1 for rank 0 (a scalar). The model checks that this cannot overflow.
    [[nodiscard]] int64_t count() const {
        int64_t n = 1;
        for (int64_t v : span()) n *= v;
        return n;
    }
    friend bool operator==(const extents& a, const extents& b) {
        if (a.rank != b.rank) return false;
        for (int i = 0; i < a.rank; ++i)
            if (a[i] != b[i]) return false;
        return true;
    }
};

/// A block's extent without its ghosts.
[[nodiscard]] inline extents less_ghosts(const extents& dimensions, const extents& before, const extents& after) {
    extents inner;
    for (int i = 0; i < dimensions.rank; ++i) inner.push_back(dimensions[i] - before[i] - after[i]);
    return inner;
}

}  // namespace halcyon::offload
