#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "offload/store/contents/compressor.hpp"
#include "offload/store/contents/encoding.hpp"
#include "offload/store/contents/precision_reducer.hpp"
#include "offload/store/contents/scratch.hpp"

namespace halcyon::offload::zarr {

/// Does the work of Zarr's codecs bytes, gzip, zstd and crc32c. Keeps its memory between chunks.
class chunk_encoder {
  public:
    /// `values`: whole elements of `how.type`, never modified. The result lives until the next call or, when nothing
    /// had to be done, as long as `values`. Throws (internal) when a compressor fails.
    std::span<const std::byte> encode(std::span<const std::byte> values, const encoding& how);

    [[nodiscard]] int64_t busy_ns() const { return busy_ns_; }
    /// Finite values that became infinite in half precision.
    [[nodiscard]] int64_t overflows() const { return reducer_.overflows(); }
    void reset_counts();

  private:
    precision_reducer reducer_;
    compressor compressor_;
    scratch sealed_;
    int64_t busy_ns_ = 0;
};

}  // namespace halcyon::offload::zarr
