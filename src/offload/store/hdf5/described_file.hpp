#pragma once

#include <memory>
#include <span>
#include <vector>

#include "offload/store/hdf5/chunk_source.hpp"
#include "offload/store/hdf5/file_pattern.hpp"
#include "offload/store/hdf5/output_file.hpp"

namespace halcyon::offload::hdf5 {

/// A data file that HDF5 describes: each member function stays in the library for itself, so that other threads use it
/// in between. Chunks are described in the order of a chunk_source; their bytes are put into the file outside.
class described_file {
  public:
    described_file(const file_job& job, const std::vector<domain_rows>& datasets, output_file& out);
    ~described_file();
    described_file(const described_file&) = delete;
    described_file& operator=(const described_file&) = delete;

    /// Has HDF5 note where these chunks go; output_file::put_held() writes them.
    void add(std::span<const ready_chunk> chunks);
    /// Describes what is left. Returns where the iterations and the chunks went.
    value_places finish();

  private:
    struct open_parts;
    void go_to(size_t set);

    const file_job& job_;
    const std::vector<domain_rows>& datasets_;
    output_file& out_;
    value_places places_;
    std::unique_ptr<open_parts> open_;
};

}  // namespace halcyon::offload::hdf5
