#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "offload/store/contents/compressor.hpp"
#include "offload/store/contents/encoding.hpp"
#include "offload/store/contents/precision_reducer.hpp"
#include "offload/store/contents/scratch.hpp"

namespace halcyon::offload::hdf5 {

/// Whether the bytes of elements are put apart before they are compressed.
[[nodiscard]] bool shuffles(const encoding& how);

/// A chunk as it goes into the file. `filter_mask`: bit i set = filter i of the dataset was not applied.
struct encoded_chunk {
    std::span<const std::byte> bytes;
    uint32_t filter_mask = 0;
};

/// Does the work of HDF5's filters itself, so that a chunk is copied no more often than needed and the time it takes
/// is known apart from writing. Keeps its memory between chunks.
class chunk_encoder {
  public:
    /// `values`: whole elements of `how.type`, never modified. The result lives until the next call or, when nothing
    /// had to be done, as long as `values`. Throws (internal) when a compressor fails.
    encoded_chunk encode(std::span<const std::byte> values, const encoding& how);

    [[nodiscard]] int64_t busy_ns() const { return busy_ns_; }
    /// Finite values that became infinite in half precision.
    [[nodiscard]] int64_t overflows() const { return reducer_.overflows(); }
    void reset_counts();

  private:
    precision_reducer reducer_;
    compressor compressor_;
    scratch shuffled_, sealed_;
    int64_t busy_ns_ = 0;
};

}  // namespace halcyon::offload::hdf5
