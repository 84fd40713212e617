// Files that all servers of a world write together.

#include <algorithm>

#include "base/clock.hpp"
#include "offload/server/file_work.hpp"

namespace halcyon::offload {

void node_server::begin_sharing() {
    bool any = false;
    for (const store& kept : data_.stores) {
        if (!kept.collective) continue;
        any = true;
        if (files_ == nullptr) {
            note("store '" + kept.name +
                 "': the server world is gone: from now on each node writes files of its own; the view shows all");
            const std::string what = "files of all servers off";
            const auto& known = counts_.switches;
            if (std::none_of(known.begin(), known.end(), [&what](const auto& s) { return s.what == what; }))
                counts_.switches.push_back({realtime_ns(), what});
            continue;
        }
        for (const variable& v : data_.variables)
            if (v.store == kept.name && v.compression != compression::none) {
                note("store '" + kept.name +
                     "' is collective: its files are not compressed, whatever variables ask for");
                break;
            }
        if (kept.index || kept.checksum || kept.expected_reader != reader::as_written)
            note("store '" + kept.name + "' is collective: index, checksum and expected-reader have no effect");
    }
    if (!any || files_ == nullptr) return;
    files_->serve([this](uint32_t store, int64_t iteration) {
        tell([this, store, iteration] {
            if (store < stores_.size())
                stores_[store].wanted_by_any = std::max(stores_[store].wanted_by_any, iteration);
        });
    });
}

void node_server::want_stored(uint32_t s, int64_t iteration) {
    if (iteration <= stores_[s].told) return;
    stores_[s].told = iteration;
    files_->want(s, iteration);
}

/// A group is full, somebody in the job waits for what is there, or nothing more will come. Waiting for an iteration
/// that is not complete here yet makes no file: it comes with that iteration.
void node_server::offer_if_ready(uint32_t s) {
    store_state& state = stores_[s];
    // A part that is under way belongs to what would be offered.
    if (!is_shared(s) || state.offered || state.jobs > 0 || state.pending.empty()) return;
    if (monotonic_ns() < state.not_before_ns) return;
    const auto most = static_cast<size_t>(data_.stores[s].iterations_per_file);
    const bool full = state.pending.size() >= most;
    const bool asked = state.pending.front() <= state.wanted_by_any && state.pending.back() >= state.wanted_by_any;
    if (!full && !asked && book_.anybody_live()) return;
    const auto end = state.pending.begin() + static_cast<ptrdiff_t>(std::min(most, state.pending.size()));
    const std::vector<int64_t> iterations(state.pending.begin(), end);
    state.pending.erase(state.pending.begin(), end);
    offer(s, iterations);
}

void node_server::offer(uint32_t s, std::vector<int64_t> iterations) {
    store_state& state = stores_[s];
    auto work = work_of(s, std::move(iterations));
    load_blocks(*work);
    shared_offer o;
    o.store = s;
    o.library = &output_->library_lock(s);
    o.give_up_ns = state.give_up_ns > 0 ? state.give_up_ns : monotonic_ns() + data_.server.retry.count();
    o.done = [this, s](const shared_outcome& outcome) { tell([this, s, outcome] { share_done(s, outcome); }); };
    tell_of_lost(output_->look_for_lost_directories());
    auto share = output_->share_of(work->request);
    if (!share) {
        // The others hear of it as of any other failure of the file.
        o.job.iterations = work->request.iterations;
        o.prepared = share.why();
    } else {
        o.job = std::move(*share);
        o.lay_out = [this, s](const shared_file& file) { return output_->lay_out(s, file); };
        o.publish_parts = [this, s](std::span<const int64_t> those) { return output_->publish_parts(s, those); };
        o.published = [this, path = o.job.path, synced = o.job.sync] { output_->published(path, synced); };
    }
    state.offered = std::move(work);
    files_->offer(std::move(o));
}

void node_server::share_done(uint32_t s, const shared_outcome& outcome) {
    store_state& state = stores_[s];
    const std::shared_ptr<file_work> work = std::exchange(state.offered, nullptr);
    state.not_before_ns = 0;
    if (outcome.iterations == 0 && outcome.report) return take_back(s, *work, 0);
    shared_ns_ += outcome.end_ns - outcome.begin_ns;
    if (!outcome.report && outcome.try_again) {
        note(outcome.report.why().message + "; trying again");
        const int64_t now = monotonic_ns();
        if (state.give_up_ns == 0) state.give_up_ns = now + data_.server.retry.count();
        state.not_before_ns = now + 200'000'000;
        return take_back(s, *work, 0);
    }
    state.give_up_ns = 0;
    take_back(s, *work, outcome.iterations);
    // The others gave up what is not here.
    if (work->request.iterations.empty()) return note(outcome.report.why().message);
    file_record record{};
    record.first_iteration = work->request.iterations.front();
    record.last_iteration = work->request.iterations.back();
    for (const int64_t number : work->request.iterations)
        record.complete_ns = std::max(record.complete_ns, book_.at(number).complete_ns);
    record.begin_ns = outcome.begin_ns;
    record.end_ns = outcome.end_ns;
    record.slot_wait_ns = std::max<int64_t>(0, record.begin_ns - record.complete_ns);
    settle(work, outcome.report, record);
}

/// What lies behind the first `iterations` of an offer is pending again.
void node_server::take_back(uint32_t s, file_work& work, size_t iterations) {
    std::vector<int64_t>& numbers = work.request.iterations;
    const auto rest = numbers.begin() + static_cast<ptrdiff_t>(iterations);
    const std::vector<int64_t> back(rest, numbers.end());
    numbers.erase(rest, numbers.end());
    stores_[s].pending.insert(stores_[s].pending.begin(), back.begin(), back.end());
    std::erase_if(work.keys, [this, &back](iteration_book::key k) {
        iteration_book::held* h = book_.find(k);
        if (h == nullptr || !std::binary_search(back.begin(), back.end(), h->block.iteration)) return false;
        h->in_job = false;
        return true;
    });
}

/// True when some offer was taken back.
bool node_server::withdraw_offers() {
    bool any = false;
    for (uint32_t s = 0; s < stores_.size(); ++s) {
        if (!stores_[s].offered || !files_->withdraw(s)) continue;
        take_back(s, *std::exchange(stores_[s].offered, nullptr), 0);
        any = true;
    }
    return any;
}

}  // namespace halcyon::offload
