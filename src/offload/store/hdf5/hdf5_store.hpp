#pragma once

#include "offload/store/hdf5/file_writer.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload::hdf5 {

/// Writes one HDF5 file per job; docs/store.md describes it.
class hdf5_store final : public file_store {
  public:
    hdf5_store();
    result<file_report> write(const file_job& job) override;
    result<void> lay_out(const shared_file& file) override;

  private:
    writer_memory memory_;
    pattern_memory patterns_;
};

}  // namespace halcyon::offload::hdf5
