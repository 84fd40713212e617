#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "offload/output/output_writer.hpp"
#include "offload/segment/segment.hpp"
#include "offload/server/journal.hpp"

namespace halcyon::offload {

/// What is lost of what clients wrote: counts it, and raises the words of the segment by which clients that wait or
/// close hear of it. The loop's thread alone uses it.
class loss_report {
  public:
    loss_report(const segment& shared, journal& notes) : segment_(shared), journal_(notes) {}

    /// Iterations from `first` on may lack something.
    void tell_clients(int64_t first, const std::string& why);
    /// A file, of `first` and later iterations, could not be written or synced.
    void file_failed(const failure& why, int64_t first);
    /// The directory of a store is not there any more. nullopt: all are.
    void directory_lost(const std::optional<output_writer::lost_directory>& lost);
    /// At the end. Nobody could tell later that something is missing: the clients are told before they close.
    void counts_unsaved(const failure& why);
    /// The last look: files that were stored are there, or are said not to be.
    void look_for_files(output_writer& output);

  private:
    const segment& segment_;
    journal& journal_;
};

}  // namespace halcyon::offload
