#include "offload/server/journal.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "offload/output/node_counts.hpp"

namespace halcyon::offload {

journal::journal(const segment& shared, log_function log, run_records records, inbox& news, const worker_pool& workers,
                 int threads)
    : segment_(shared),
      log_(std::move(log)),
      workers_(workers),
      threads_(threads),
      stored_through_(shared.header().ledger.read().stored_through),
      records_(std::move(records), recorder_,
               [this, &news](const result<void>& saved) { news.tell([this, saved] { say_whether_saved(saved); }); }),
      recorder_(1) {}

void journal::resume() {
    counts_ = records_.saved_counts();
    static_cast<server_counts&>(counts_) = segment_.header().ledger.read().counts;
    earlier_busy_ns_ = counts_.busy_ns;
    earlier_idle_ns_ = counts_.idle_ns;
    counts_.finished = false;
    segment_.header().stored_through.store(stored_through_, std::memory_order_release);
}

void journal::note(const std::string& message) {
    write_ledger();
    const auto logged = log_(message);
    const auto count = [this](std::string text) {
        if (counts_.messages.size() < 100) counts_.messages.push_back(std::move(text));
    };
    count(message);
    if (logged || std::exchange(told_of_log_, true)) return;
    count("the log cannot be written: " + logged.why().message);
}

void journal::note_switch(const std::string& what) {
    counts_.switches.push_back({realtime_ns(), what});
}

void journal::mark_stored(int64_t through) {
    stored_through_ = through;
    write_ledger();
    segment_.header().stored_through.store(through, std::memory_order_release);
}

void journal::restate() {
    auto& word = segment_.header().stored_through;
    if (word.load(std::memory_order_relaxed) != stored_through_) word.store(stored_through_, std::memory_order_release);
}

void journal::write_ledger() {
    segment_.header().ledger.write({stored_through_, counts_});
}

void journal::sum_up(bool finished) {
    counts_.finished = finished;
    const int64_t busy_ns = std::max<int64_t>(0, workers_.busy_ns());
    counts_.busy_ns = earlier_busy_ns_ + busy_ns + shared_ns_;
    // The loop sleeps while the pool works or waits for a turn, too: idle is only what no thread had work for.
    counts_.idle_ns =
        earlier_idle_ns_ + std::max<int64_t>(0, threads_ * slept_ns_ - busy_ns - workers_.waited_ns() - shared_ns_);
    count_clients(segment_, counts_);
    write_ledger();
}

void journal::save() {
    sum_up(false);
    records_.save(counts_);
}

result<void> journal::save_last(int64_t ended_short) {
    sum_up(true);
    const bool said = records_.unsaved();
    // Known from the last view alone, and none of what successors count on from.
    run_counts last = counts_;
    last.incomplete_iterations += ended_short;
    auto saved = records_.save_now(last);
    if (saved.ok() == said) say_whether_saved(saved);
    return saved;
}

void journal::say_whether_saved(const result<void>& saved) {
    if (saved) return static_cast<void>(log_("counts are saved again"));
    note("counts cannot be saved, and are tried again after each file: " + saved.why().message);
}

bool journal::count_lost_lines(int64_t expected) {
    const int64_t known = records_.phase_lines() + records_.lost_lines() + counts_.lost_records;
    if (known >= expected) return false;
    counts_.lost_records += expected - known;
    note(std::to_string(expected - known) + " line(s) of the phases were lost with a server that was killed");
    return true;
}

}  // namespace halcyon::offload
