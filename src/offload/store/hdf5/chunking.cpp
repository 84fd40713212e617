#include "offload/store/hdf5/chunking.hpp"

#include <algorithm>

namespace halcyon::offload::hdf5 {
namespace {

constexpr hsize_t largest_chunk = hsize_t{1} << 30;
/// Large enough for a disk's sequential speed, small enough that one point's series does not read much else.
constexpr hsize_t series_chunk = hsize_t{1} << 18;

hsize_t product(const std::vector<hsize_t>& shape) {
    hsize_t n = 1;
    for (const hsize_t v : shape) n *= v;
    return n;
}

void split_slowest(std::vector<hsize_t>& chunk, hsize_t element_bytes) {
    for (hsize_t& extent : chunk) {
        while (extent > 1 && product(chunk) * element_bytes > largest_chunk) extent = (extent + 1) / 2;
    }
}

void shrink_box(std::vector<hsize_t>& chunk, hsize_t element_bytes) {
    while (product(chunk) * element_bytes > series_chunk) {
        const auto longest = std::max_element(chunk.begin() + 1, chunk.end());
        if (longest == chunk.end() || *longest == 1) return;
        *longest = (*longest + 1) / 2;
    }
}

}  // namespace

std::vector<hsize_t> chunk_shape(int64_t rows, const extents& block, int64_t element_bytes, reader expected) {
    const auto bytes = static_cast<hsize_t>(element_bytes);
    std::vector<hsize_t> chunk{1};
    for (const int64_t extent : block.span()) chunk.push_back(static_cast<hsize_t>(std::max<int64_t>(extent, 1)));
    if (expected == reader::time_series) {
        chunk[0] = static_cast<hsize_t>(std::max<int64_t>(rows, 1));
        shrink_box(chunk, bytes);
    } else if (expected == reader::maps) {
        for (size_t i = 1; i + 2 < chunk.size(); ++i) chunk[i] = 1;
    }
    split_slowest(chunk, bytes);
    return chunk;
}

}  // namespace halcyon::offload::hdf5
