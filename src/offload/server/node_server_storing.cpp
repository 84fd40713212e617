#include <algorithm>
#include <cstring>

#include "base/clock.hpp"
#include "offload/segment/spill.hpp"
#include "offload/server/file_work.hpp"

namespace halcyon::offload {

// ---- what is complete -----------------------------------------------------------------------------------------------

void node_server::complete_iterations() {
    while (const auto number = book_.take_complete()) finish_iteration(*number);
}

void node_server::finish_iteration(int64_t number) {
    iteration_book::iteration& it = book_.at(number);
    it.complete_ns = realtime_ns();
    if (!it.closed_before.empty()) tell_of_closed_before(number, it.closed_before);
    const int64_t delay = slot_.delay_ns(monotonic_ns());
    for (const iteration_book::key k : it.blocks) {
        iteration_book::held* h = book_.find(k);
        if (h == nullptr) continue;
        const std::string& store = data_.variables[h->block.variable].store;
        if (store.empty()) {
            h->stored = true;
            release_if_done(k);
        }
    }
    // Each store gets a file for each iteration, an empty one too: it says that this writer is through with it.
    it.stores_left = stores_.size();
    if (stores_.empty()) iteration_stored(number);
    for (uint32_t s = 0; s < stores_.size(); ++s) {
        stores_[s].pending.push_back(number);
        if (static_cast<int>(stores_[s].pending.size()) >= data_.stores[s].iterations_per_file) {
            slot_delay_ns_ = delay;
            flush_store(s);
            slot_delay_ns_ = 0;
        }
    }
}

/// Once for each client, as it goes on with each iteration that the others end.
void node_server::tell_of_closed_before(int64_t number, const std::set<uint32_t>& clients) {
    for (const uint32_t c : clients)
        if (told_closed_.insert(c).second)
            note("rank " + std::to_string(book_.rank_of(c)) + " closed before iteration " + std::to_string(number) +
                 ", which other ranks ended: its blocks are missing from there on");
}

/// Somebody waits for iterations whose file is not full yet.
void node_server::flush_wanted() {
    const segment_header& h = segment_.header();
    const int64_t wanted =
        std::max(h.stored_wanted.load(std::memory_order_acquire), h.durable_wanted.load(std::memory_order_acquire));
    for (uint32_t s = 0; s < stores_.size(); ++s) {
        const int64_t here = std::max(wanted, stores_[s].wanted);
        if (is_shared(s) && here > stored_through_) want_stored(s, here);
        if (const auto& pending = stores_[s].pending; !pending.empty() && pending.front() <= here) flush_store(s);
    }
    if (wanted > stored_through_) pool_->hurry();
}

/// Has what is pending written; where all servers write together, when they are ready.
void node_server::flush_store(uint32_t s) {
    store_state& state = stores_[s];
    if (state.pending.empty() || is_shared(s)) return;
    auto work = work_of(s, std::exchange(state.pending, {}));
    if (slot_delay_ns_ > 0) work->not_before_ns = monotonic_ns() + slot_delay_ns_;
    submit_file(work);
}

/// The blocks of complete iterations, and what is known about them.
std::shared_ptr<node_server::file_work> node_server::work_of(uint32_t s, std::vector<int64_t> iterations) {
    auto work = std::make_shared<file_work>();
    work->request.store = s;
    work->request.iterations = std::move(iterations);
    for (const int64_t number : work->request.iterations) {
        iteration_book::iteration& it = book_.at(number);
        work->complete_ns = std::max(work->complete_ns, it.complete_ns);
        if (it.incomplete) work->request.unfinished.push_back(number);
        for (const missing_block& m : it.missing)
            if (data_.variables[m.variable_id].store == data_.stores[s].name) work->request.missing.push_back(m);
        for (const iteration_book::key k : it.blocks) {
            iteration_book::held* h = book_.find(k);
            if (h == nullptr || h->stored || h->in_job || h->block.iteration != number) continue;
            if (data_.variables[h->block.variable].store != data_.stores[s].name) continue;
            h->in_job = true;
            work->keys.push_back(k);
        }
    }
    return work;
}

/// A client waits for room and nothing that is under way will make any: blocks of incomplete iterations are stored
/// early, into a part that is published with its iteration.
void node_server::relieve_pressure() {
    bool waiting = false;
    for (uint32_t c = 0; c < gone_.size(); ++c)
        waiting = waiting || (!gone_[c] && segment_.page(c).waiting.load(std::memory_order_acquire) != 0);
    if (!waiting) return;
    pool_->hurry();
    for (const store_state& s : stores_)
        if (s.jobs > 0) return;
    // Only blocks whose room comes free by it: handed over, and not outliving their iteration.
    int64_t oldest = INT64_MAX;
    std::string store;
    for (const auto& [k, h] : book_.all()) {
        if (!h.handed || h.stored || h.in_job || h.constant) continue;
        const std::string& name = data_.variables[h.block.variable].store;
        if (name.empty() || h.block.iteration >= oldest) continue;
        oldest = h.block.iteration;
        store = name;
    }
    // What waits for other servers may wait for the very client that finds no room here.
    if (oldest == INT64_MAX && withdraw_offers()) return relieve_pressure();
    if (oldest == INT64_MAX) return;
    auto work = std::make_shared<file_work>();
    for (uint32_t s = 0; s < stores_.size(); ++s)
        if (data_.stores[s].name == store) work->request.store = s;
    for (const auto& [k, h] : book_.all()) {
        if (!h.handed || h.stored || h.in_job || h.constant || h.block.iteration != oldest) continue;
        if (data_.variables[h.block.variable].store == store) work->keys.push_back(k);
    }
    for (const iteration_book::key k : work->keys) book_.find(k)->in_job = true;
    work->request.iterations = {oldest};
    work->request.part = output_->next_part(work->request.store, oldest);
    work->request.visible = false;
    work->complete_ns = realtime_ns();
    submit_file(work);
}

// ---- writing --------------------------------------------------------------------------------------------------------

result<block_view> node_server::view_of(const iteration_book::held& h, std::vector<std::vector<std::byte>>& spilled) {
    const checked_block& b = h.block;
    block_view v;
    v.var = &data_.variables[b.variable];
    v.iteration = b.iteration;
    v.rank = book_.rank_of(b.client);
    v.block = b.block;
    v.shape = b.shape;
    const auto bytes = static_cast<size_t>(b.shape.bytes);
    if (!b.in_spill) {
        v.data = {segment_.bytes_at(b.location), bytes};
        return v;
    }
    // The client states the block's size; the server checks it before it allocates.
    if (auto there = spill_holds(spill_files_[b.client].get(), b.location, bytes); !there) return there.why();
    spilled.emplace_back(bytes);
    if (auto got = read_spilled(spill_files_[b.client].get(), b.location, spilled.back().data(), bytes); !got) {
        spilled.pop_back();
        return got.why();
    }
    v.data = spilled.back();
    return v;
}

void node_server::submit_file(const std::shared_ptr<file_work>& work) {
    ++stores_[work->request.store].jobs;
    waiting_files_.push_back(work);
    submit_waiting_files();
}

/// A part that is written again comes before the file of its iteration, which may wait already.
void node_server::submit_again(const std::shared_ptr<file_work>& work) {
    ++stores_[work->request.store].jobs;
    if (work->request.part > 0)
        waiting_files_.push_front(work);
    else
        waiting_files_.push_back(work);
    submit_waiting_files();
}

/// One file at a time holds what was spilled in memory: with a slow store, all of the spill file would end up there.
/// And the file of an iteration publishes its early parts, so it waits until those are written.
void node_server::submit_waiting_files() {
    while (!waiting_files_.empty()) {
        const auto work = waiting_files_.front();
        const bool is_part = work->request.part > 0;
        if (!is_part && stores_[work->request.store].parts_under_way > 0) return;
        const bool spilled = std::any_of(work->keys.begin(), work->keys.end(),
                                         [this](iteration_book::key k) { return book_.find(k)->block.in_spill; });
        if (spilled && unspilled_) return;
        waiting_files_.pop_front();
        if (spilled) unspilled_ = work;
        if (is_part) ++stores_[work->request.store].parts_under_way;
        write_file(work);
    }
}

void node_server::write_file(const std::shared_ptr<file_work>& work) {
    if (work->give_up_ns == 0) work->give_up_ns = monotonic_ns() + data_.server.retry.count();
    load_blocks(*work);
    // A failing store is tried again; the pool sleeps between the attempts, not the loop.
    pool_->submit(
        [this, work] {
            file_record record{};
            record.first_iteration = work->request.iterations.front();
            record.last_iteration = work->request.iterations.back();
            record.part = work->request.part;
            record.complete_ns = work->complete_ns;
            record.begin_ns = realtime_ns();
            record.slot_wait_ns =
                work->not_before_ns > 0 ? std::max<int64_t>(0, record.begin_ns - record.complete_ns) : 0;
            const auto lost = output_->look_for_lost_directories();
            const result<file_report> outcome = output_->write(work->request);
            record.end_ns = realtime_ns();
            tell([this, work, outcome, record, lost] {
                tell_of_lost(lost);
                file_done(work, outcome, record);
            });
        },
        work->not_before_ns, work->wait);
}

/// Finds the bytes of a file's blocks.
void node_server::load_blocks(file_work& work) {
    work.request.compress = idle_.on();
    work.request.sync = data_.stores[work.request.store].durable;
    work.request.blocks.clear();
    work.spilled.clear();
    for (auto k = work.keys.begin(); k != work.keys.end();) {
        iteration_book::held* h = book_.find(*k);
        auto v = view_of(*h, work.spilled);
        if (v) {
            work.request.blocks.push_back(*v);
            ++k;
            continue;
        }
        // Spilled data that cannot be read back is lost: said, counted, marked.
        note(v.why().message);
        const missing_block lost{h->block.variable, h->block.iteration, book_.rank_of(h->block.client), h->block.block,
                                 missing_block::why::corrupt};
        work.request.missing.push_back(lost);
        if (book_.knows(lost.iteration))
            book_.at(lost.iteration).missing.push_back(lost);
        else
            ++counts_.missing_blocks;
        tell_clients_of_loss(lost.iteration, v.why().message);
        h->stored = true;
        h->in_job = false;
        release_if_done(*k);
        k = work.keys.erase(k);
    }
}

void node_server::file_done(const std::shared_ptr<file_work>& work, const result<file_report>& outcome,
                            const file_record& begun) {
    --stores_[work->request.store].jobs;
    if (work->request.part > 0) --stores_[work->request.store].parts_under_way;
    work->spilled.clear();
    if (unspilled_ == work) unspilled_.reset();
    if (!outcome && monotonic_ns() < work->give_up_ns) {
        note(outcome.why().message + "; trying again");
        work->not_before_ns = monotonic_ns() + 200'000'000;
        work->wait = worker_pool::patience::firm;
        submit_again(work);
        return;
    }
    submit_waiting_files();
    settle(work, outcome, begun);
}

/// A file is written or given up: its blocks may go.
void node_server::settle(const std::shared_ptr<file_work>& work, const result<file_report>& outcome,
                         const file_record& begun) {
    bool waits = false;
    for (uint32_t c = 0; c < gone_.size(); ++c)
        waits = waits || segment_.page(c).waiting.load(std::memory_order_acquire) != 0;
    if (outcome) {
        if (work->request.part > 0) ++counts_.early_parts;
        counts_.overflowed_values += outcome->overflowed_values;
        if (outcome->patterns_refuted) {
            counts_.switches.push_back({realtime_ns(), patterns_off});
            note(patterns_off);
        }
        file_record record = begun;
        record.compress_ns = outcome->compress_ns;
        record.write_ns = outcome->write_ns;
        record.raw_bytes = outcome->raw_bytes;
        record.stored_bytes = outcome->stored_bytes;
        record.compressed = outcome->compress_ns > 0 && work->request.compress;
        records_->add(record);
        const auto now_on = is_shared(work->request.store) && work->request.part == 0
                                ? std::nullopt
                                : idle_.observe(record.end_ns - record.begin_ns, slot_.estimate_ns(), waits);
        if (now_on) {
            const bool used = std::any_of(data_.variables.begin(), data_.variables.end(),
                                          [](const variable& v) { return v.compression == compression::when_idle; });
            if (used) {
                counts_.switches.push_back({realtime_ns(), *now_on ? "compression on" : "compression off"});
                note(std::string("compression when-idle is now ") + (*now_on ? "on" : "off"));
            }
        }
    } else {
        note("given up: " + outcome.why().message);
        tell_of_failure(outcome.why(), work->request.iterations.front());
        // The iteration's own file is still to come, and says what an early part would have held.
        for (const iteration_book::key k : work->keys) count_unwritten(k, work->request.part > 0);
    }
    for (const iteration_book::key k : work->keys)
        if (iteration_book::held* b = book_.find(k)) {
            b->in_job = false;
            b->stored = true;
            b->early = work->request.part > 0;
        }
    if (work->request.part == 0) {
        for (const int64_t number : work->request.iterations)
            if (--book_.at(number).stores_left == 0) iteration_stored(number);
        view_dirty_ = true;
    } else {
        for (const iteration_book::key k : work->keys) release_if_done(k);
    }
    progress_ = true;
    save_counts();
}

void node_server::count_unwritten(iteration_book::key k, bool of_early_part) {
    const iteration_book::held* h = book_.find(k);
    if (h == nullptr || !book_.knows(h->block.iteration)) return;
    iteration_book::iteration& it = book_.at(h->block.iteration);
    ++it.unwritten;
    it.unwritten_bytes += h->block.shape.bytes;
    if (of_early_part)
        book_.note_missing(h->block.client, h->block.variable, h->block.block, h->block.iteration,
                           missing_block::why::not_written);
    else
        ++it.given_up;
}

void node_server::iteration_stored(int64_t number) {
    stored_out_of_order_.insert(number);
    segment_header& h = segment_.header();
    int64_t& through = stored_through_;
    std::vector<iteration_book::key> done;
    while (stored_out_of_order_.erase(through + 1) > 0) {
        ++through;
        const iteration_book::iteration& it = book_.at(through);
        done.insert(done.end(), it.blocks.begin(), it.blocks.end());
        ++counts_.iterations;
        counts_.blocks += static_cast<int64_t>(it.blocks.size()) - it.unwritten;
        counts_.bytes += it.bytes - it.unwritten_bytes;
        if (data_.stores.empty()) {
            counts_.unstored_blocks += static_cast<int64_t>(it.blocks.size());
            counts_.unstored_bytes += it.bytes;
        }
        counts_.missing_blocks += static_cast<int64_t>(it.missing.size()) + it.given_up;
        if (it.incomplete) ++counts_.incomplete_iterations;
        // Blocks still held (committed, constant) are found by their keys; the iteration itself is history.
        book_.drop(through);
    }
    // First the mark, then the blocks: a server that takes over in between must not store an iteration again of which
    // some blocks are gone. Hence no block goes before all stores have written its iteration.
    write_ledger();
    h.stored_through.store(through, std::memory_order_release);
    for (const iteration_book::key k : done) release_if_done(k);
    const bool all_durable =
        std::all_of(data_.stores.begin(), data_.stores.end(), [](const store& s) { return s.durable; });
    if (all_durable) h.durable_through.store(through, std::memory_order_release);
    progress_ = true;
}

// ---- giving back ----------------------------------------------------------------------------------------------------

void node_server::release_if_done(iteration_book::key k) {
    const iteration_book::held* h = book_.find(k);
    if (h == nullptr || !h->stored || !h->handed || h->in_job || h->pins > 0) return;
    if (h->constant && !gone_[h->block.client]) return;
    // A published file may have to be written again while its iteration is not marked; a closed early part never.
    const bool marked = h->block.iteration <= stored_through_;
    if (!marked && !h->early && !data_.variables[h->block.variable].store.empty()) return;
    if (h->block.in_spill && !h->buried)
        discard_spilled(spill_files_[h->block.client].get(), h->block.location, h->block.shape.bytes);
    if (marked || !h->early) {
        book_.forget(k);
        release(k, block_state::free);
    } else if (!h->buried) {
        book_.find(k)->buried = true;
        release(k, block_state::stored_early);
    }
}

/// Gives back the entry, or only its bytes.
void node_server::release(iteration_book::key k, block_state now) {
    const auto client = static_cast<uint32_t>(k >> 32);
    const auto index = static_cast<uint32_t>(k);
    segment_.table(client)[index].state.store(now, std::memory_order_release);
    // The ring has a slot for each entry; should a client have damaged it, it finds its block by itself.
    static_cast<void>(returns_[client].push(index));
    progress_ = true;
}

}  // namespace halcyon::offload
