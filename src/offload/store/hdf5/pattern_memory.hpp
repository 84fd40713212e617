#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "offload/store/hdf5/file_pattern.hpp"

namespace halcyon::offload::hdf5 {

/// The pattern of a store's latest files, and whether it can be trusted. Any thread may use it at any time.
///
/// HDF5 makes the first two files of a description, and later now and then one; a pattern that it would not make again
/// refutes all: from then on HDF5 makes each file.
class pattern_memory {
  public:
    explicit pattern_memory(bool on = true) : on_(on) {}

    [[nodiscard]] bool on() const;
    /// The pattern for the next file of this description; null: HDF5 makes this one, and keep() hears of it.
    [[nodiscard]] std::shared_ptr<const file_pattern> pattern_for(const std::string& description);
    /// HDF5 made a file like this. A pattern without a description can serve no other file.
    void keep(file_pattern made);
    /// A file was not what the pattern says.
    void refute();
    /// True once after the patterns were refuted.
    [[nodiscard]] bool take_refuted();

  private:
    mutable std::mutex mutex_;
    bool on_;
    bool untold_ = false;
    std::shared_ptr<const file_pattern> known_;
    int64_t files_ = 0;  ///< of the known description
};

}  // namespace halcyon::offload::hdf5
