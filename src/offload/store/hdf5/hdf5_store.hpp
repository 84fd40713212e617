#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "offload/store/hdf5/file_writer.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload::hdf5 {

/// Writes one HDF5 file per job; docs/store.md describes it.
class hdf5_store final : public file_store {
  public:
    hdf5_store();
    result<file_report> write(const file_job& job) override;
    result<void> lay_out(const shared_file& file) override;

    [[nodiscard]] std::recursive_mutex* library_lock() override;

  private:
    std::unique_ptr<writer_memory> take_memory();
    void give_back(std::unique_ptr<writer_memory> memory);

    std::mutex mutex_;
    std::vector<std::unique_ptr<writer_memory>> idle_memory_;  ///< as many as threads ever wrote at once
    pattern_memory patterns_;
};

}  // namespace halcyon::offload::hdf5
