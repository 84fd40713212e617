#include "offload/server/settlement.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace halcyon::offload {

settlement::settlement(const segment& shared, const model& data, iteration_book& book, held_blocks& held,
                       const iteration_pace& pace, view_refresh& view, journal& notes, loss_report& losses,
                       progress_notice& progress)
    : segment_(shared),
      data_(data),
      book_(book),
      held_(held),
      pace_(pace),
      view_(view),
      journal_(notes),
      losses_(losses),
      progress_(progress) {}

void settlement::settle(const file_work& work, const result<file_report>& outcome, const file_record& begun,
                        bool shared) {
    const bool early = work.is_early_part();
    if (outcome) {
        count_written(work, *outcome, begun, shared);
    } else {
        journal_.note("given up: " + outcome.why().message);
        losses_.file_failed(outcome.why(), work.request.iterations.front());
        // The iteration's own file is still to come, and says what an early part would have held.
        for (const iteration_book::key k : work.keys) book_.note_unwritten(k, early);
    }
    for (const iteration_book::key k : work.keys) book_.mark_stored(k, early);
    if (early) {
        for (const iteration_book::key k : work.keys) held_.give_back_if_done(k);
    } else {
        for (const int64_t number : work.request.iterations)
            if (book_.store_is_through(number)) iteration_stored(number);
        view_.mark_stale();
    }
    progress_.note();
    journal_.save();
}

void settlement::count_written(const file_work& work, const file_report& report, const file_record& begun,
                               bool shared) {
    bool waits = false;
    for (uint32_t c = 0; c < segment_.geometry().clients; ++c)
        waits = waits || segment_.page(c).waiting.load(std::memory_order_acquire) != 0;
    if (work.is_early_part()) journal_.add(&run_counts::early_parts);
    journal_.add(&run_counts::overflowed_values, report.overflowed_values);
    journal_.add(&run_counts::unasked_bytes, work.unasked_bytes);
    if (report.patterns_refuted) {
        journal_.note_switch(patterns_off);
        journal_.note(patterns_off);
    }
    file_record record = begun;
    record.compress_ns = report.compress_ns;
    record.write_ns = report.write_ns;
    record.raw_bytes = report.raw_bytes;
    record.stored_bytes = report.stored_bytes;
    record.compressed = report.compress_ns > 0 && work.request.compress;
    journal_.add(record);
    if (shared) return;
    const auto now_on = idle_.observe(record.end_ns - record.begin_ns - work.paused_ns, pace_.estimate_ns(), waits);
    const bool used = std::any_of(data_.variables.begin(), data_.variables.end(),
                                  [](const variable& v) { return v.compression == compression::when_idle; });
    if (!now_on || !used) return;
    journal_.note_switch(*now_on ? "compression on" : "compression off");
    journal_.note(std::string("compression when-idle is now ") + (*now_on ? "on" : "off"));
}

void settlement::iteration_stored(int64_t number) {
    stored_out_of_order_.insert(number);
    int64_t through = journal_.stored_through();
    std::vector<iteration_book::key> done;
    while (stored_out_of_order_.erase(through + 1) > 0) {
        ++through;
        const iteration_book::iteration& it = book_.at(through);
        const auto blocks = static_cast<int64_t>(it.blocks.size());
        done.insert(done.end(), it.blocks.begin(), it.blocks.end());
        journal_.add(&run_counts::iterations);
        journal_.add(&run_counts::blocks, blocks - it.unwritten);
        journal_.add(&run_counts::bytes, it.bytes - it.unwritten_bytes);
        if (data_.stores.empty()) {
            journal_.add(&run_counts::unstored_blocks, blocks);
            journal_.add(&run_counts::unstored_bytes, it.bytes);
        }
        journal_.add(&run_counts::missing_blocks, static_cast<int64_t>(it.missing.size()) + it.given_up);
        if (it.incomplete) journal_.add(&run_counts::incomplete_iterations);
        // Blocks still held (committed, constant) are found by their keys; the iteration itself is history.
        book_.drop(through);
    }
    // First the mark, then the blocks: a server that takes over in between must not store an iteration again of which
    // some blocks are gone. Hence no block goes before all stores have written its iteration.
    journal_.mark_stored(through);
    for (const iteration_book::key k : done) held_.give_back_if_done(k);
    const bool all_durable =
        std::all_of(data_.stores.begin(), data_.stores.end(), [](const store& s) { return s.durable; });
    if (all_durable) segment_.header().durable_through.store(through, std::memory_order_release);
    progress_.note();
}

}  // namespace halcyon::offload
