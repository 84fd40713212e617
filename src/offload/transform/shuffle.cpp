#include "offload/transform/shuffle.hpp"

#include <algorithm>
#include <cstring>

namespace halcyon::offload {
namespace {

/// A tile of elements stays in the first-level cache while its byte planes are written one after another.
template <size_t size>
void shuffle_fixed(const std::byte* in, std::byte* out, size_t count) {
    constexpr size_t tile = 4096 / size;
    for (size_t begin = 0; begin < count; begin += tile) {
        const size_t end = std::min(begin + tile, count);
        for (size_t plane = 0; plane < size; ++plane) {
            for (size_t i = begin; i < end; ++i) out[plane * count + i] = in[i * size + plane];
        }
    }
}

}  // namespace

void shuffle(std::span<const std::byte> in, std::span<std::byte> out, size_t element_bytes) {
    const size_t count = in.size() / element_bytes;
    switch (element_bytes) {
        case 2:
            return shuffle_fixed<2>(in.data(), out.data(), count);
        case 4:
            return shuffle_fixed<4>(in.data(), out.data(), count);
        case 8:
            return shuffle_fixed<8>(in.data(), out.data(), count);
        default:
            break;
    }
    if (!in.empty()) std::memcpy(out.data(), in.data(), in.size());
}

}  // namespace halcyon::offload
