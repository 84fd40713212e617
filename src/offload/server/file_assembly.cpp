#include "offload/server/file_assembly.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.hpp"

namespace halcyon::offload {

std::shared_ptr<file_work> file_assembly::of_iterations(uint32_t store, std::vector<int64_t> iterations) {
    auto work = std::make_shared<file_work>();
    const std::string& name = data_.stores[store].name;
    work->request.store = store;
    work->request.iterations = std::move(iterations);
    for (const int64_t number : work->request.iterations) {
        const iteration_book::iteration& it = book_.at(number);
        work->complete_ns = std::max(work->complete_ns, it.complete_ns);
        if (it.incomplete) work->request.unfinished.push_back(number);
        for (const missing_block& m : it.missing)
            if (data_.variables[m.variable_id].store == name) work->request.missing.push_back(m);
        for (const iteration_book::key k : it.blocks) {
            const iteration_book::held* h = book_.find(k);
            if (h == nullptr || h->stored || h->in_job || h->block.iteration != number) continue;
            if (data_.variables[h->block.variable].store != name) continue;
            book_.put_into_file(k);
            work->keys.push_back(k);
        }
    }
    return work;
}

std::shared_ptr<file_work> file_assembly::early_part() {
    const auto makes_room = [](const iteration_book::held& h) {
        return h.handed && !h.stored && !h.in_job && !h.constant;
    };
    int64_t oldest = INT64_MAX;
    std::string store;
    for (const auto& [k, h] : book_.all()) {
        if (!makes_room(h)) continue;
        const std::string& name = data_.variables[h.block.variable].store;
        if (name.empty() || h.block.iteration >= oldest) continue;
        oldest = h.block.iteration;
        store = name;
    }
    if (oldest == INT64_MAX) return nullptr;
    auto work = std::make_shared<file_work>();
    for (uint32_t s = 0; s < data_.stores.size(); ++s)
        if (data_.stores[s].name == store) work->request.store = s;
    for (const auto& [k, h] : book_.all())
        if (makes_room(h) && h.block.iteration == oldest && data_.variables[h.block.variable].store == store)
            work->keys.push_back(k);
    for (const iteration_book::key k : work->keys) book_.put_into_file(k);
    work->request.iterations = {oldest};
    work->request.visible = false;
    work->complete_ns = realtime_ns();
    return work;
}

void file_assembly::find_bytes(file_work& work) {
    work.request.sync = data_.stores[work.request.store].durable;
    work.request.blocks.clear();
    work.spilled.clear();
    for (auto k = work.keys.begin(); k != work.keys.end();) {
        const iteration_book::held* h = book_.find(*k);
        auto v = held_.view_of(*h, work.spilled);
        if (v) {
            work.request.blocks.push_back(*v);
            ++k;
            continue;
        }
        // Spilled data that cannot be read back is lost: said, counted, marked.
        journal_.note(v.why().message);
        const missing_block lost{h->block.variable, h->block.iteration, book_.rank_of(h->block.client), h->block.block,
                                 missing_block::why::corrupt};
        work.request.missing.push_back(lost);
        if (book_.knows(lost.iteration))
            book_.note_lost(lost);
        else
            journal_.add(&run_counts::missing_blocks);
        losses_.tell_clients(lost.iteration, v.why().message);
        book_.mark_stored(*k, false);
        held_.give_back_if_done(*k);
        k = work.keys.erase(k);
    }
}

std::vector<int64_t> file_assembly::take_out(file_work& work, size_t kept) {
    std::vector<int64_t>& numbers = work.request.iterations;
    const auto rest = numbers.begin() + static_cast<ptrdiff_t>(kept);
    std::vector<int64_t> back(rest, numbers.end());
    numbers.erase(rest, numbers.end());
    std::erase_if(work.keys, [this, &back](iteration_book::key k) {
        const iteration_book::held* h = book_.find(k);
        if (h == nullptr || !std::binary_search(back.begin(), back.end(), h->block.iteration)) return false;
        book_.take_out_of_file(k);
        return true;
    });
    return back;
}

}  // namespace halcyon::offload
