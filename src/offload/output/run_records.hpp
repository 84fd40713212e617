#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "offload/output/reserved_file.hpp"
#include "offload/output/steering_record.hpp"
#include "offload/segment/ledger.hpp"

namespace halcyon::offload {

/// What clients did with blocks for which the buffer had no room, by their policies.
struct policy_counts {
    int64_t skipped_blocks = 0, skipped_bytes = 0;
    int64_t spilled_blocks = 0, spilled_bytes = 0;
    int64_t inlined_blocks = 0, inlined_bytes = 0;

    policy_counts& operator+=(const policy_counts& other);
    friend bool operator==(const policy_counts&, const policy_counts&) = default;
};

/// Everything that was not the normal path, of one writer. docs/run-directory.md describes the file it becomes.
struct run_counts : server_counts, policy_counts {
    bool finished = false;
    int64_t dead_clients = 0, server_restarts = 0;
    int64_t lost_records = 0;  ///< lines of phases-….csv and server-….csv that are not there
    struct mode_switch {
        int64_t at_ns;
        std::string what;
    };
    std::vector<mode_switch> switches;
    std::vector<std::string> messages;  ///< the first hundred; the log has all
};

/// What a switch of the mode of writing is called once file_report::patterns_refuted was seen.
inline constexpr const char* patterns_off = "file patterns off: HDF5 makes each file from now on";

/// One output phase of one rank, as the simulation saw it.
struct phase_record {
    int64_t iteration, rank, begin_ns, visible_ns, blocked_ns, compute_ns, bytes;
};

/// One stored file.
struct file_record {
    int64_t first_iteration, last_iteration;
    int part;
    int64_t complete_ns, begin_ns, end_ns, slot_wait_ns, compress_ns, write_ns, raw_bytes, stored_bytes;
    bool compressed;
};

/// Writes phases-<writer>.csv, server-<writer>.csv, where somebody steers steering-<writer>.csv, and
/// counts-<writer>.json into `directory`. A writer that takes over appends to what its predecessor wrote.
class run_records {
  public:
    /// `run`: as for output_writer::open().
    static result<run_records> open(const std::string& directory, const std::string& writer, const std::string& run);

    void add(const phase_record& p);
    void add(const file_record& f);
    void add(const steering_record& s);
    /// Replaces counts-<writer>.json, on a full disk too: its room is reserved. Messages that would not fit into that
    /// room are left out of the file and counted there. Files of records that were deleted or moved are begun anew, and
    /// the directory is made where it is missing. Failure (usage): another run has the directory now.
    result<void> save(run_counts counts);
    /// The counts change no more: gives back the room that is kept for them. save() does so when they are finished.
    void release() { counts_file_.release(); }
    /// Counts that an earlier server of this writer saved; zeros when there are none.
    [[nodiscard]] run_counts saved_counts() const;
    /// Lines of phases that are in the file, those of earlier servers too.
    [[nodiscard]] int64_t phase_lines() const { return phases_.lines; }
    /// Lines that this writer knows not to be in its files.
    [[nodiscard]] int64_t lost_lines() const { return lost_; }

  private:
    struct table {
        std::string path;
        const char* header = "";
        std::ofstream out;
        descriptor held;    ///< the same file, so that it can be told from another of its name
        int64_t lines = 0;  ///< in it, without the header
    };
    static result<table> open_table(const std::string& path, const char* header);
    void count_line(table& t);
    static bool is_lost(const table& t);
    void begin_anew_if_lost(table& t);

    std::string directory_, writer_, run_;
    table phases_, files_, steering_;  ///< the last is opened by its first line
    reserved_file counts_file_;
    int64_t lost_ = 0;
};

}  // namespace halcyon::offload
