#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "offload/output/run_records.hpp"
#include "offload/segment/segment.hpp"
#include "offload/server/inbox.hpp"
#include "offload/server/records_writer.hpp"
#include "offload/server/worker_pool.hpp"

namespace halcyon::offload {

/// What a server counts and says, and the mark up to which everything is stored. It keeps them in the ledger of the
/// segment, which outlives the server, in the log, and in the records of the run.
///
/// Threads: the event loop alone calls it. Records are written by a thread of their own, since actions on the pool may
/// take for ever; that thread reports through the inbox.
class journal {
  public:
    using log_function = std::function<result<void>(const std::string&)>;

    /// `workers`: whose time counts as busy; `threads` of them. Both they and the inbox outlive the journal's calls.
    journal(const segment& shared, log_function log, run_records records, inbox& news, const worker_pool& workers,
            int threads);

    /// Goes on with the counts of the servers before this one.
    void resume();

    /// A line of the log, which is also among the first hundred messages of the counts.
    void note(const std::string& message);
    void add(int64_t run_counts::*what, int64_t by = 1) { counts_.*what += by; }
    void set(int64_t run_counts::*what, int64_t value) { counts_.*what = value; }
    /// The mode of writing changed.
    void note_switch(const std::string& what);
    void add(const phase_record& line) { records_.add(line); }
    void add(const file_record& line) { records_.add(line); }
    void add(const steering_record& line) { records_.add(line); }
    [[nodiscard]] const run_counts& counts() const { return counts_; }

    /// All iterations up to this one are stored.
    [[nodiscard]] int64_t stored_through() const { return stored_through_; }
    void mark_stored(int64_t through);
    /// Writes the mark for the clients again where somebody has written over it.
    void restate();

    /// Time of the loop without work; time in files that all servers write together.
    void add_sleep(int64_t ns) { slept_ns_ += ns; }
    void add_shared_writing(int64_t ns) { shared_ns_ += ns; }

    /// Makes what was counted so far outlive this server.
    void write_ledger();
    /// Has the counts saved; returns at once.
    void save();
    /// Saves them as those of a server that finished. `ended_short`: iterations of which the last view alone knows.
    result<void> save_last(int64_t ended_short);

    /// Counts and says how many lines of phases are missing of the `expected` ones. False: none.
    bool count_lost_lines(int64_t expected);

  private:
    void sum_up(bool finished);
    void say_whether_saved(const result<void>& saved);

    const segment& segment_;
    log_function log_;
    const worker_pool& workers_;
    int64_t threads_;
    run_counts counts_;
    int64_t stored_through_;
    bool told_of_log_ = false;                           ///< that it cannot be written
    int64_t slept_ns_ = 0, shared_ns_ = 0;               ///< since begin
    int64_t earlier_busy_ns_ = 0, earlier_idle_ns_ = 0;  ///< of the servers whose work this one took over
    records_writer records_;
    worker_pool recorder_;  ///< of one thread; last, so that it is joined before the records go
};

}  // namespace halcyon::offload
