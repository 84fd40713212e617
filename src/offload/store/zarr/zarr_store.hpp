#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "offload/store/store.hpp"
#include "offload/store/zarr/folder_writer.hpp"

namespace halcyon::offload::zarr {

/// Writes one folder per job, a hierarchy by the Zarr v3 core specification; docs/zarr.md describes it.
class zarr_store final : public file_store {
  public:
    result<file_report> write(const file_job& job) override;

  private:
    std::unique_ptr<writer_memory> take_memory();
    void give_back(std::unique_ptr<writer_memory> memory);

    std::mutex mutex_;
    std::vector<std::unique_ptr<writer_memory>> idle_memory_;  ///< as many as threads ever wrote at once
};

}  // namespace halcyon::offload::zarr
