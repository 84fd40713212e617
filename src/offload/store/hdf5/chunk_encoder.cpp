#include "offload/store/hdf5/chunk_encoder.hpp"

#include <chrono>
#include <cstring>

#include "offload/store/hdf5/fletcher32.hpp"
#include "offload/transform/shuffle.hpp"

namespace halcyon::offload::hdf5 {

bool shuffles(const encoding& how) {
    return how.method != compression::none && how.stored_element_bytes() > 1;
}

encoded_chunk chunk_encoder::encode(std::span<const std::byte> values, const encoding& how) {
    if (how.as_is()) return {values, 0};
    const auto begin = std::chrono::steady_clock::now();
    encoded_chunk chunk{reducer_.reduce(values, how), 0};
    const bool shuffled = shuffles(how);
    const unsigned place = shuffled ? 1 : 0;
    if (how.method != compression::none) {
        std::span<const std::byte> input = chunk.bytes;
        if (shuffled) {
            const std::span<std::byte> planes = shuffled_.take(input.size());
            shuffle(input, planes, how.stored_element_bytes());
            input = planes;
        }
        // A result that is no smaller than the input is not wanted, so there is no need for room for it.
        const std::span<const std::byte> packed =
            how.method == compression::gzip
                ? compressor_.deflate(input, how.level, compressor::wrapper::zlib, input.size())
                : compressor_.zstd(input, how.level);
        if (packed.size() < chunk.bytes.size()) {
            chunk.bytes = packed;
        } else {
            // Stored as it is: neither the compressor nor the shuffle in front of it is undone by readers.
            chunk.filter_mask = (1U << place) | (shuffled ? 1U : 0U);
        }
    }
    if (how.checksum) {
        const uint32_t sum = fletcher32(chunk.bytes);
        const std::span<std::byte> sealed = sealed_.take(chunk.bytes.size() + 4);
        std::memcpy(sealed.data(), chunk.bytes.data(), chunk.bytes.size());
        for (size_t i = 0; i < 4; ++i) sealed[chunk.bytes.size() + i] = static_cast<std::byte>(sum >> (8 * i));
        chunk.bytes = sealed;
    }
    busy_ns_ += std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
    return chunk;
}

void chunk_encoder::reset_counts() {
    reducer_.reset_count();
    busy_ns_ = 0;
}

}  // namespace halcyon::offload::hdf5
