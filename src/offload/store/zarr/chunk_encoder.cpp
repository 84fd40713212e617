#include "offload/store/zarr/chunk_encoder.hpp"

#include <chrono>
#include <cstring>

#include "base/crc32c.hpp"

namespace halcyon::offload::zarr {

std::span<const std::byte> chunk_encoder::encode(std::span<const std::byte> values, const encoding& how) {
    if (how.as_is()) return values;
    const auto begin = std::chrono::steady_clock::now();
    std::span<const std::byte> bytes = reducer_.reduce(values, how);
    // Unlike HDF5's filters a codec of Zarr holds for all chunks of an array, whether or not it makes one smaller.
    if (how.method == compression::gzip)
        bytes =
            compressor_.deflate(bytes, how.level, compressor::wrapper::gzip, compressor::deflated_bound(bytes.size()));
    if (how.method == compression::zstd) bytes = compressor_.zstd(bytes, how.level);
    if (how.checksum) {
        const uint32_t sum = crc32c(bytes);
        const std::span<std::byte> sealed = sealed_.take(bytes.size() + 4);
        std::memcpy(sealed.data(), bytes.data(), bytes.size());
        for (size_t i = 0; i < 4; ++i) sealed[bytes.size() + i] = static_cast<std::byte>(sum >> (8 * i));
        bytes = sealed;
    }
    busy_ns_ += std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
    return bytes;
}

void chunk_encoder::reset_counts() {
    reducer_.reset_count();
    busy_ns_ = 0;
}

}  // namespace halcyon::offload::zarr
