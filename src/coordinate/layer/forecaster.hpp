#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/coming_io.hpp"
#include "calls/state/woken_thread.hpp"
#include "coordinate/layer/coming_phases.hpp"
#include "coordinate/layer/file_mounts.hpp"
#include "coordinate/layer/phase_habit.hpp"
#include "coordinate/page/page.hpp"
#include "coordinate/page/phase_forecast.hpp"

namespace halcyon::coordinate {

/// Tells the agent what the process is about to do, in a thread of ours: asks for a forecast when a phase begins, when
/// what moved or the time that passed is a quarter more than was forecast, and when the phase is over; and writes it
/// into the process' part of the page.
///
/// Callers do no more than to say that a phase begins, or to compare what has moved with one word. Work of the thread
/// takes no more than `share` of the time that passes: beyond, forecasts are left out, and the page keeps the one
/// before.
class forecaster {
  public:
    /// For the bench and for tests; `credit_ns` of work are allowed at once.
    struct budget {
        double share = 0.005;
        int64_t credit_ns = 50'000'000;
    };

    /// Once for each process, before it makes calls. `forecasts`: null: there are none.
    void start(page& shared, process_slot& slot, const file_mounts& files, coming_io::source forecasts,
               const budget& allowed);
    [[nodiscard]] bool runs() const { return forecasts_ != nullptr; }

    /// A phase begins at a file system, after so many bytes. `last_end`: of its transfers, in ticks; it says `begun`
    /// until the first call has ended. `pause_ticks` behind it, the phase is over.
    void phase_begins(size_t file_system, int64_t moved, const std::atomic<int64_t>& last_end, int64_t begun,
                      int64_t pause_ticks);
    /// The process has moved so many bytes there, unasked ones included.
    void moved(size_t file_system, int64_t bytes) {
        if (bytes > places_[file_system].ask_above.load(std::memory_order_relaxed)) [[unlikely]]
            ask_again(file_system);
    }
    /// The process is about to end: no forecast is being made when this returns, unless a phase begins.
    void rest();

    /// No thread of ours is there; after rest(), soon.
    [[nodiscard]] bool has_ended() const { return thread_.has_ended(); }
    /// Forecasts that were made, and those that were left out since they would have taken too much time.
    [[nodiscard]] uint64_t made() const { return made_.load(std::memory_order_relaxed); }
    [[nodiscard]] uint64_t left_out() const { return left_out_.load(std::memory_order_relaxed); }

  private:
    struct place {
        std::atomic<int64_t> ask_above{INT64_MAX};
        // Of the phase that began last, written before it is told.
        std::atomic<const std::atomic<int64_t>*> last_end{nullptr};
        std::atomic<int64_t> begun{0};
        std::atomic<int64_t> moved_before{0};
        std::atomic<int64_t> pause_ticks{0};
        // Of the thread.
        bool in_phase = false;
        phase_habit habit;
        int64_t late_ns = INT64_MAX;  ///< when the phase takes a quarter longer than was forecast
        int64_t patience_ns = 0;      ///< where nothing was forecast, and the phase goes on; doubles with each question
        int64_t beyond_bytes = 0;     ///< of a forecast, that are no reason to ask; likewise
        // Before the phase.
        int64_t first_moved = 0;
        int64_t first_waited_ns = 0;
        int64_t first_begun = 0;
        uint32_t others_move_version = 0;
        int64_t looked_ns = 0;
    };
    static constexpr size_t most = process_slot::most_file_systems;

    void ask_again(size_t file_system);
    static int64_t work(void* self);
    int64_t look(int64_t now_ns);
    bool follow(size_t file_system, int64_t now_ns);
    [[nodiscard]] bool may_work(int64_t now_ns) const;
    void ask(uint32_t begun, int64_t now_ns);
    [[nodiscard]] phase_forecast judge(size_t file_system, const coming_phases::said& by_walk, bool begins,
                                       int64_t moved, int64_t now_ns);
    void tell(size_t file_system, const phase_forecast& said);
    [[nodiscard]] int64_t moved_at(size_t file_system) const;
    void begin(size_t file_system, int64_t now_ns);
    void end(size_t file_system, int64_t moved);

    page* shared_ = nullptr;
    process_slot* slot_ = nullptr;
    const file_mounts* files_ = nullptr;
    coming_io::source forecasts_ = nullptr;
    coming_io::forecast* coming_ = nullptr;
    budget allowed_;
    calls::woken_thread thread_;
    std::atomic<uint32_t> begun_{0};  ///< file systems, a bit each
    std::atomic<uint32_t> off_{0};    ///< likewise: more has moved than was forecast
    std::atomic<uint32_t> last_begun_{0};
    std::atomic<bool> rests_{false}, works_{false};
    std::atomic<uint64_t> made_{0}, left_out_{0};
    int64_t started_ns_ = 0;
    int64_t worked_ns_ = 0;
    std::array<place, most> places_;
};

}  // namespace halcyon::coordinate
