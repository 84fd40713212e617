#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "offload/store/contents/dataset_shape.hpp"
#include "offload/store/contents/domain_rows.hpp"
#include "offload/store/hdf5/chunk_encoder.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload::hdf5 {

/// The memory that writing needs, kept from file to file; one thread uses it at a time.
struct writer_memory {
    chunk_encoder encoder;
    scratch cut;
    scratch ready;  ///< encoded chunks that wait for their window
};

/// A chunk as it goes into the file, and where.
struct ready_chunk {
    size_t set = 0;  ///< index of its dataset
    std::vector<uint64_t> origin;
    encoded_chunk encoded;
};

/// Encodes the chunks of a file that hold a block, one after the other. Uses no library of the format, so that the
/// threads of a server encode at the same time.
class chunk_source {
  public:
    /// Memory that encoded chunks of one window take, beside the one chunk that is still in the encoder.
    static constexpr size_t window_bytes = size_t{16} << 20;

    chunk_source(const file_job& job, const std::vector<domain_rows>& datasets, writer_memory& memory)
        : job_(job), datasets_(datasets), memory_(memory) {}

    /// The next chunk; its bytes live until the next call. Nothing behind the last one.
    std::optional<ready_chunk> next();
    /// As many of the next chunks as there is memory for; their bytes live until the next call. Empty at the end.
    std::span<const ready_chunk> next_window();

  private:
    bool find_next();

    const file_job& job_;
    const std::vector<domain_rows>& datasets_;
    writer_memory& memory_;
    dataset_shape shape_;
    std::vector<uint64_t> origin_;  ///< of the chunk that came last; empty before the first of a dataset
    size_t set_ = 0;
    std::vector<ready_chunk> window_;
};

}  // namespace halcyon::offload::hdf5
