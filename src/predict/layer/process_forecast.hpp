#pragma once

#include <span>

#include "base/coming_io.hpp"
#include "base/io_forecast.hpp"
#include "calls/state/file_paths.hpp"
#include "predict/layer/file_book.hpp"
#include "predict/layer/thread_model.hpp"

namespace halcyon::predict {

/// What the whole process is about to do: the forecasts of its threads in one order, by their begin; what is left of
/// the bursts that they are in; and when nothing is going on.
///
/// A thread's access that should have begun is expected now, and all behind it is later by as much. A thread that is
/// late by more than twice the time it was expected to take, with three deviations and the least pause on top, has
/// ended or does something else: it is left out, and counted.
class process_forecast {
  public:
    explicit process_forecast(int64_t least_pause_ns) : least_pause_(least_pause_ns) {}
    ~process_forecast();
    process_forecast(const process_forecast&) = delete;
    process_forecast& operator=(const process_forecast&) = delete;

    /// False when there is no memory for it.
    [[nodiscard]] bool begin(const io_forecast::question& asked, int64_t now_ns);
    /// Likewise; no access behind the next phase matters.
    [[nodiscard]] bool begin_of_phases(int64_t now_ns);
    void add(thread_model& of);
    /// The accesses go to `out`, which has room for as many as were asked for.
    void finish(file_book& files, calls::file_paths& paths, io_forecast::access* out, io_forecast::answer& found);
    /// After begin_of_phases().
    void finish(coming_io::forecast& found) const;

    /// Accesses of a thread that are walked ahead, and of all threads that are kept.
    static constexpr size_t most = model::longest_walk;

  private:
    struct step {
        forecast what;
        uint32_t thread;
        uint32_t file;  // see coming_io::access
    };
    struct pages {
        forecast walk[most];  // of the thread that is added
        step steps[2][most];  // of all threads before, in order; and with it
    };
    /// How a thread's walk went.
    struct course {
        size_t steps = 0;
        int64_t delay = 0;     // to be added to its times, which count from the end of its last call
        size_t first_end = 0;  // steps before the first pause and before the second one; npos: not seen
        size_t second_end = 0;
    };
    static constexpr size_t npos = SIZE_MAX;

    bool add(model& of, const thread_model& thread);
    course walk_ahead(model& of, int64_t elapsed);
    void find_pauses(course& gone, int64_t pause) const;
    [[nodiscard]] policy::expected_phase rest_of_phase(const model& of, const course& gone) const;
    void add_phase(const model& of, const thread_model& thread, const course& gone);
    void add_period(const model& of, const course& gone, int64_t elapsed);
    [[nodiscard]] static uint32_t file_there(const model& of, const forecast& step);
    void merge(const model& of, const course& gone, uint32_t thread);
    void name(size_t i, file_book& files, calls::file_paths& paths, io_forecast::access* out) const;
    void find_flush(io_forecast::answer& found) const;
    [[nodiscard]] int64_t written(size_t from, size_t to) const;

    int64_t least_pause_;
    pages* pages_ = nullptr;
    io_forecast::question asked_{};  // of no more accesses than are kept
    uint64_t wanted_ = 0;            // accesses, all of them
    bool phases_alone_ = false;      // this phase and the next one are all that is wanted
    io_forecast::answer found_{};
    int64_t now_ = 0;
    size_t count_ = 0;
    unsigned kept_in_ = 0;
    int64_t known_until_ = INT64_MAX;  // behind it, accesses of some thread are not known
    bool window_is_known_ = true;
    bool cut_off_ = false;  // a walk was ended before what it knows
};

}  // namespace halcyon::predict
