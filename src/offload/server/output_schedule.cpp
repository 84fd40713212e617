#include "offload/server/output_schedule.hpp"

#include <algorithm>
#include <string>

#include "base/clock.hpp"

namespace halcyon::offload {

output_schedule::output_schedule(const segment& shared, const model& data, const client_roster& clients,
                                 iteration_book& book, held_blocks& held, pending_iterations& pending,
                                 const turn& turns, iteration_pace& pace, file_assembly& assembly, settlement& settled,
                                 file_queue& queue, file_sharing& sharing, output_writer& output, journal& notes,
                                 worker_pool& workers)
    : segment_(shared),
      data_(data),
      clients_(clients),
      book_(book),
      held_(held),
      pending_(pending),
      turns_(turns),
      pace_(pace),
      assembly_(assembly),
      settlement_(settled),
      queue_(queue),
      sharing_(sharing),
      output_(output),
      journal_(notes),
      pool_(workers) {}

void output_schedule::complete_iterations() {
    while (const auto number = book_.take_complete()) complete(*number);
}

void output_schedule::complete(int64_t number) {
    // Each store gets a file for each iteration, an empty one too: it says that this writer is through with it.
    book_.begin_storing(number, realtime_ns(), data_.stores.size());
    const iteration_book::iteration& it = book_.at(number);
    if (!it.closed_before.empty()) tell_of_closed_before(number, it.closed_before);
    pace_.complete(monotonic_ns());
    const int64_t delay_ns = turns_.delay_ns(pace_.estimate_ns());
    for (const iteration_book::key k : it.blocks) {
        const iteration_book::held* h = book_.find(k);
        if (h == nullptr || !data_.variables[h->block.variable].store.empty()) continue;
        book_.mark_stored(k, false);
        held_.give_back_if_done(k);
    }
    if (data_.stores.empty()) settlement_.iteration_stored(number);
    for (uint32_t s = 0; s < data_.stores.size(); ++s) {
        pending_.add(s, number);
        if (static_cast<int>(pending_.of(s).size()) >= data_.stores[s].iterations_per_file) flush(s, delay_ns);
    }
}

/// Once for each client, as it goes on with each iteration that the others end.
void output_schedule::tell_of_closed_before(int64_t number, const std::set<uint32_t>& clients) {
    for (const uint32_t c : clients)
        if (told_closed_.insert(c).second)
            journal_.note("rank " + std::to_string(book_.rank_of(c)) + " closed before iteration " +
                          std::to_string(number) + ", which other ranks ended: its blocks are missing from there on");
}

void output_schedule::flush_wanted() {
    const segment_header& h = segment_.header();
    const int64_t wanted =
        std::max(h.stored_wanted.load(std::memory_order_acquire), h.durable_wanted.load(std::memory_order_acquire));
    const int64_t stored = journal_.stored_through();
    for (uint32_t s = 0; s < data_.stores.size(); ++s) {
        const int64_t here = std::max(wanted, pending_.wanted(s));
        if (sharing_.is_shared(s) && here > stored) sharing_.want(s, here);
        if (const auto& numbers = pending_.of(s); !numbers.empty() && numbers.front() <= here) flush(s);
    }
    if (wanted > stored) pool_.hurry();
}

void output_schedule::flush_all() {
    for (uint32_t s = 0; s < data_.stores.size(); ++s) flush(s);
}

/// Where all servers write together, a file is written when they are ready.
void output_schedule::flush(uint32_t s, int64_t delay_ns) {
    if (pending_.of(s).empty() || sharing_.is_shared(s)) return;
    auto work = assembly_.of_iterations(s, pending_.take(s));
    if (delay_ns > 0) work->not_before_ns = monotonic_ns() + delay_ns;
    queue_.submit(work);
}

void output_schedule::relieve_pressure() {
    if (!clients_.somebody_waits()) return;
    pool_.hurry();
    if (!queue_.is_idle()) return;
    auto work = assembly_.early_part();
    // What waits for other servers may wait for the very client that finds no room here.
    while (!work && sharing_.withdraw_offers()) work = assembly_.early_part();
    if (!work) return;
    work->request.part = output_.next_part(work->request.store, work->request.iterations.front());
    queue_.submit(work);
}

}  // namespace halcyon::offload
