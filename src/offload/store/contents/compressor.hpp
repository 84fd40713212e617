#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "offload/store/contents/scratch.hpp"

struct z_stream_s;
struct ZSTD_CCtx_s;

namespace halcyon::offload {

/// deflate and Zstandard; keeps their streams and its memory between calls. Each result lives until the next call.
/// Throws (internal) when a compressor fails.
class compressor {
  public:
    compressor();
    ~compressor();
    compressor(const compressor&) = delete;
    compressor& operator=(const compressor&) = delete;

    /// What lies around the compressed bytes: RFC 1950, which HDF5 stores, or RFC 1952, a whole gzip file.
    enum class wrapper { zlib, gzip };
    /// At most 1 GiB. A result that would be longer than `most` bytes is cut off there, and of no use.
    std::span<const std::byte> deflate(std::span<const std::byte> bytes, int level, wrapper around, size_t most);
    /// The most that deflate() can make of so many bytes.
    [[nodiscard]] static size_t deflated_bound(size_t bytes);
    std::span<const std::byte> zstd(std::span<const std::byte> bytes, int level);

  private:
    scratch compressed_;
    std::unique_ptr<z_stream_s> deflater_;
    int deflater_level_ = -1;
    wrapper deflater_wrapper_ = wrapper::zlib;
    ZSTD_CCtx_s* zstd_ = nullptr;
};

}  // namespace halcyon::offload
