#pragma once

#include <string>
#include <vector>

#include "offload/store/contents/domain_rows.hpp"
#include "offload/store/hdf5/output_file.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload::hdf5 {

/// A file without its values, as HDF5 made it once. Files of a run mostly differ in their values and in the numbers of
/// their iterations alone: the next one is written without asking HDF5 for each dataset again, which takes longer than
/// writing 64 KiB.
struct file_pattern {
    std::string description;                  ///< what HDF5 was told; see description_of()
    std::vector<output_file::extent> values;  ///< of the iterations, then of each chunk in order of writing
    output_file::pieces metadata;             ///< and texts
    uint64_t size = 0;
    friend bool operator==(const file_pattern&, const file_pattern&) = default;
};

/// Everything that decides how a file looks but its values: files of equal descriptions have equal metadata. Empty:
/// that is not known beforehand (compression), or will not come again (missing blocks).
[[nodiscard]] std::string description_of(const file_job& job, const std::vector<domain_rows>& datasets);

/// Where values went while HDF5 wrote a file. It writes texts of attributes as data, too, whenever its cache is full or
/// the file is closed, so that order and size alone do not tell which piece is which.
class value_places {
  public:
    /// A value of so many bytes was written since `out` had `before` pieces of data.
    void note(const output_file& out, size_t before, size_t bytes);
    /// Of each value, the place of its piece in output_file::data(); nothing when one of them did not become one piece.
    [[nodiscard]] const std::vector<size_t>& pieces() const { return pieces_; }

  private:
    std::vector<size_t> pieces_;
    bool known_ = true;
};

/// What has just been written into `out`, for files like it; nothing (an empty description) when it is not known where
/// each value went.
[[nodiscard]] file_pattern pattern_of(std::string description, output_file& out, const value_places& values);

}  // namespace halcyon::offload::hdf5
