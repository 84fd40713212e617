#include "offload/store/hdf5/fletcher32.hpp"

#include <algorithm>

namespace halcyon::offload::hdf5 {

uint32_t fletcher32(std::span<const std::byte> bytes) {
    // The sums are folded before they can pass 32 bits: 360 words of at most 65535 keep the second one below 2^32.
    constexpr size_t words_per_fold = 360;
    const auto fold = [](uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
    uint32_t first = 0;
    uint32_t second = 0;
    size_t word = 0;
    const size_t words = bytes.size() / 2;
    while (word < words) {
        const size_t end = std::min(words, word + words_per_fold);
        for (; word < end; ++word) {
            first += std::to_integer<uint32_t>(bytes[2 * word]) << 8 | std::to_integer<uint32_t>(bytes[2 * word + 1]);
            second += first;
        }
        first = fold(first);
        second = fold(second);
    }
    if (bytes.size() % 2 != 0) {
        first += std::to_integer<uint32_t>(bytes.back()) << 8;
        second += first;
        first = fold(first);
        second = fold(second);
    }
    first = fold(first);
    second = fold(second);
    return second << 16 | first;
}

}  // namespace halcyon::offload::hdf5
