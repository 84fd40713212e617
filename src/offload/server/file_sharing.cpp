#include "offload/server/file_sharing.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.hpp"

namespace halcyon::offload {

file_sharing::file_sharing(const model& data, shared_files* files, iteration_book& book, output_writer& output,
                           file_assembly& assembly, settlement& settled, pending_iterations& pending,
                           const file_queue& queue, journal& notes, loss_report& losses, inbox& news)
    : data_(data),
      files_(files),
      book_(book),
      output_(output),
      assembly_(assembly),
      settlement_(settled),
      pending_(pending),
      queue_(queue),
      journal_(notes),
      losses_(losses),
      inbox_(news),
      stores_(data.stores.size()) {}

void file_sharing::begin() {
    bool any = false;
    for (const store& kept : data_.stores) {
        if (!kept.collective) continue;
        any = true;
        if (files_ == nullptr) {
            journal_.note("store '" + kept.name +
                          "': the server world is gone: from now on each node writes files of its own; the view shows "
                          "all");
            const std::string what = "files of all servers off";
            const auto& known = journal_.counts().switches;
            if (std::none_of(known.begin(), known.end(), [&what](const auto& s) { return s.what == what; }))
                journal_.note_switch(what);
            continue;
        }
        for (const variable& v : data_.variables)
            if (v.store == kept.name && v.compression != compression::none) {
                journal_.note("store '" + kept.name +
                              "' is collective: its files are not compressed, whatever variables ask for");
                break;
            }
        if (kept.index || kept.checksum || kept.expected_reader != reader::as_written)
            journal_.note("store '" + kept.name +
                          "' is collective: index, checksum and expected-reader have no effect");
    }
    if (!any || files_ == nullptr) return;
    files_->serve([this](uint32_t store, int64_t iteration) {
        inbox_.tell([this, store, iteration] {
            if (store < stores_.size())
                stores_[store].wanted_by_any = std::max(stores_[store].wanted_by_any, iteration);
        });
    });
}

void file_sharing::want(uint32_t s, int64_t iteration) {
    if (iteration <= stores_[s].told) return;
    stores_[s].told = iteration;
    files_->want(s, iteration);
}

void file_sharing::offer_what_is_ready() {
    for (uint32_t s = 0; s < stores_.size(); ++s)
        if (is_ready(s)) offer(s, pending_.take(s, static_cast<size_t>(data_.stores[s].iterations_per_file)));
}

/// A group is full, somebody in the job waits for what is there, or nothing more will come. Waiting for an iteration
/// that is not complete here yet makes no file: it comes with that iteration.
bool file_sharing::is_ready(uint32_t s) const {
    const of_store& state = stores_[s];
    const std::vector<int64_t>& pending = pending_.of(s);
    // A part that is under way belongs to what would be offered.
    if (!is_shared(s) || state.offered || queue_.files_of(s) > 0 || pending.empty()) return false;
    if (monotonic_ns() < state.not_before_ns) return false;
    const bool full = pending.size() >= static_cast<size_t>(data_.stores[s].iterations_per_file);
    const bool asked = pending.front() <= state.wanted_by_any && pending.back() >= state.wanted_by_any;
    return full || asked || !book_.anybody_live();
}

void file_sharing::offer(uint32_t s, std::vector<int64_t> iterations) {
    of_store& state = stores_[s];
    auto work = assembly_.of_iterations(s, std::move(iterations));
    work->request.compress = settlement_.compresses();
    assembly_.find_bytes(*work);
    shared_offer o;
    o.store = s;
    o.library = &output_.library_lock(s);
    o.give_up_ns = state.give_up_ns > 0 ? state.give_up_ns : monotonic_ns() + data_.server.retry.count();
    o.done = [this, s](const shared_outcome& outcome) { inbox_.tell([this, s, outcome] { done(s, outcome); }); };
    losses_.directory_lost(output_.look_for_lost_directories());
    auto share = output_.share_of(work->request);
    if (!share) {
        // The others hear of it as of any other failure of the file.
        o.job.iterations = work->request.iterations;
        o.prepared = share.why();
    } else {
        o.job = std::move(*share);
        o.lay_out = [this, s](const shared_file& file) { return output_.lay_out(s, file); };
        o.publish_parts = [this, s](std::span<const int64_t> those) { return output_.publish_parts(s, those); };
        o.published = [this, path = o.job.path, synced = o.job.sync] { output_.published(path, synced); };
    }
    state.offered = std::move(work);
    files_->offer(std::move(o));
}

void file_sharing::done(uint32_t s, const shared_outcome& outcome) {
    of_store& state = stores_[s];
    const std::shared_ptr<file_work> work = std::exchange(state.offered, nullptr);
    state.not_before_ns = 0;
    if (outcome.iterations == 0 && outcome.report) return take_back(s, *work, 0);
    journal_.add_shared_writing(outcome.end_ns - outcome.begin_ns);
    if (!outcome.report && outcome.try_again) {
        journal_.note(outcome.report.why().message + "; trying again");
        const int64_t now = monotonic_ns();
        if (state.give_up_ns == 0) state.give_up_ns = now + data_.server.retry.count();
        state.not_before_ns = now + pause_after_failure_ns;
        return take_back(s, *work, 0);
    }
    state.give_up_ns = 0;
    take_back(s, *work, outcome.iterations);
    // The others gave up what is not here.
    if (work->request.iterations.empty()) return journal_.note(outcome.report.why().message);
    file_record record{};
    record.first_iteration = work->request.iterations.front();
    record.last_iteration = work->request.iterations.back();
    for (const int64_t number : work->request.iterations)
        record.complete_ns = std::max(record.complete_ns, book_.at(number).complete_ns);
    record.begin_ns = outcome.begin_ns;
    record.end_ns = outcome.end_ns;
    record.slot_wait_ns = std::max<int64_t>(0, record.begin_ns - record.complete_ns);
    settlement_.settle(*work, outcome.report, record, true);
}

/// What lies behind the first `kept` iterations of an offer is pending again.
void file_sharing::take_back(uint32_t s, file_work& work, size_t kept) {
    pending_.put_back(s, assembly_.take_out(work, kept));
}

bool file_sharing::withdraw_offers() {
    bool any = false;
    for (uint32_t s = 0; s < stores_.size(); ++s) {
        if (!stores_[s].offered || !files_->withdraw(s)) continue;
        take_back(s, *std::exchange(stores_[s].offered, nullptr), 0);
        any = true;
    }
    return any;
}

bool file_sharing::has_offers() const {
    return std::any_of(stores_.begin(), stores_.end(), [](const of_store& s) { return s.offered != nullptr; });
}

int64_t file_sharing::due_in_ns(int64_t longest_ns) const {
    for (uint32_t s = 0; s < stores_.size(); ++s)
        if (stores_[s].not_before_ns > 0 && !pending_.of(s).empty())
            longest_ns = std::min(longest_ns, std::max<int64_t>(1'000'000, stores_[s].not_before_ns - monotonic_ns()));
    return longest_ns;
}

}  // namespace halcyon::offload
