#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "offload/output/run_records.hpp"
#include "offload/server/worker_pool.hpp"

namespace halcyon::offload {

/// Keeps the records of a server away from its event loop: takes lines and counts at once, and has a pool
/// write them in their order. Of counts only the newest are written.
///
/// What waits is bounded; lines beyond that are counted as lost. A server that is killed takes with it what waits.
class records_writer {
  public:
    static constexpr size_t most_lines = 1U << 16;

    /// `said`: called on a thread of the pool when counts could not be saved for the first time, or can be again.
    records_writer(run_records records, worker_pool& pool, std::function<void(const result<void>&)> said);

    void add(const phase_record& p);
    void add(const file_record& f);
    void add(const steering_record& s);
    void save(const run_counts& counts);
    /// Writes what waits, then these counts, on the calling thread, whose matter it is to say how that went.
    result<void> save_now(const run_counts& counts);
    /// The latest counts could not be saved.
    [[nodiscard]] bool unsaved();
    /// As for run_records. Complete after save_now().
    [[nodiscard]] run_counts saved_counts();
    [[nodiscard]] int64_t phase_lines();
    [[nodiscard]] int64_t lost_lines();

  private:
    struct batch {
        std::vector<phase_record> phases;
        std::vector<file_record> files;
        std::vector<steering_record> steering;
        std::optional<run_counts> counts;
        [[nodiscard]] size_t lines() const { return phases.size() + files.size() + steering.size(); }
        [[nodiscard]] bool empty() const { return lines() == 0 && !counts; }
    };
    template <class Put>
    void take(bool is_line, Put put);
    bool write_some();
    void write_waiting();
    result<void> write_counts(run_counts counts);

    worker_pool& pool_;
    std::function<void(const result<void>&)> said_;
    std::mutex waiting_mutex_;
    batch waiting_;
    bool scheduled_ = false;  ///< a job of the pool will write what waits
    int64_t lost_ = 0;        ///< lines that found no room

    std::mutex writing_mutex_;  ///< taken before the other one
    run_records records_;
    bool unsaved_ = false;  ///< `said` knows
};

}  // namespace halcyon::offload
