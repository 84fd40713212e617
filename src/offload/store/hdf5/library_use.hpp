#pragma once

#include <mutex>

#include "offload/store/hdf5/handle.hpp"

namespace halcyon::offload::hdf5 {

/// Held by whoever uses the HDF5 of this process, whatever that library was built for; a thread may hold it more than
/// once.
[[nodiscard]] std::recursive_mutex& library_lock();

/// One stay in the library: alone, and without printing. Handles are closed inside one, too.
class library_use {
  public:
    library_use() : alone_(library_lock()) {}

  private:
    std::unique_lock<std::recursive_mutex> alone_;
    silence quiet_;
};

}  // namespace halcyon::offload::hdf5
