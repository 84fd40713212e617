#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "offload/model/model.hpp"

struct z_stream_s;
struct ZSTD_CCtx_s;

namespace halcyon::offload::hdf5 {

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

/// How the chunks of a variable are stored.
struct encoding {
    scalar_type type = scalar_type::float32;
    offload::precision precision = precision::full;
    int significant_bits = 0;
    compression method = compression::none;  ///< none, gzip or zstd
    int level = 4;
    bool checksum = false;

    /// What `v` asks for. `idle`: when-idle compression is on. Precision applies to floating point only.
    static encoding of(const variable& v, scalar_type type, bool idle, bool checksum);
    /// The same without compression and checksum.
    static encoding uncompressed(const variable& v, scalar_type type);

    [[nodiscard]] size_t stored_element_bytes() const;
    [[nodiscard]] bool shuffles() const;
    /// True when the bytes in memory are the bytes in the file.
    [[nodiscard]] bool as_is() const {
        return precision == precision::full && method == compression::none && !checksum;
    }
};

/// A chunk as it goes into the file. `filter_mask`: bit i set = filter i of the dataset was not applied.
struct encoded_chunk {
    std::span<const std::byte> bytes;
    uint32_t filter_mask = 0;
};

/// Does the work of HDF5's filters itself, so that a chunk is copied no more often than needed and the time it takes
/// is known apart from writing. Keeps its memory between chunks.
class chunk_encoder {
  public:
    chunk_encoder();
    ~chunk_encoder();

    /// `values`: whole elements of `how.type`, never modified. The result lives until the next call or, when nothing
    /// had to be done, as long as `values`. Throws (internal) when a compressor fails.
    encoded_chunk encode(std::span<const std::byte> values, const encoding& how);

    [[nodiscard]] int64_t busy_ns() const { return busy_ns_; }
    /// Finite values that became infinite in half precision.
    [[nodiscard]] int64_t overflows() const { return overflows_; }
    void reset_counts() { busy_ns_ = overflows_ = 0; }

  private:
    std::span<const std::byte> reduce(std::span<const std::byte> values, const encoding& how);
    std::span<const std::byte> deflate(std::span<const std::byte> bytes, int level);
    std::span<const std::byte> zstd(std::span<const std::byte> bytes, int level);

    scratch reduced_, shuffled_, compressed_;
    std::unique_ptr<z_stream_s> deflater_;
    int deflater_level_ = -1;
    ZSTD_CCtx_s* zstd_ = nullptr;
    int64_t busy_ns_ = 0;
    int64_t overflows_ = 0;
};

}  // namespace halcyon::offload::hdf5
