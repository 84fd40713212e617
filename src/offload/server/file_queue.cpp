#include "offload/server/file_queue.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace halcyon::offload {
namespace {

int64_t bytes_of(const output_writer::request& file) {
    int64_t bytes = 0;
    for (const block_view& block : file.blocks) bytes += static_cast<int64_t>(block.data.size());
    return bytes;
}

}  // namespace

file_queue::file_queue(const model& data, turn& turns, iteration_book& book, output_writer& output,
                       file_assembly& assembly, settlement& settled, journal& notes, loss_report& losses, inbox& news,
                       worker_pool& workers)
    : data_(data),
      turns_(turns),
      book_(book),
      output_(output),
      assembly_(assembly),
      settlement_(settled),
      journal_(notes),
      losses_(losses),
      inbox_(news),
      pool_(workers),
      under_way_(data.stores.size()) {}

bool file_queue::is_idle() const {
    return std::all_of(under_way_.begin(), under_way_.end(), [](const of_store& s) { return s.files == 0; });
}

void file_queue::submit(const std::shared_ptr<file_work>& work) {
    ++under_way_[work->request.store].files;
    waiting_.push_back(work);
    begin_waiting();
}

/// A part that is written again comes before the file of its iteration, which may wait already.
void file_queue::submit_again(const std::shared_ptr<file_work>& work) {
    ++under_way_[work->request.store].files;
    if (work->is_early_part())
        waiting_.push_front(work);
    else
        waiting_.push_back(work);
    begin_waiting();
}

/// With a slow store, all of the spill file would end up in memory if each file had its blocks there. And the file of
/// an iteration publishes its early parts, so it waits until those are written.
void file_queue::begin_waiting() {
    while (!waiting_.empty()) {
        const auto work = waiting_.front();
        of_store& under_way = under_way_[work->request.store];
        if (!work->is_early_part() && under_way.parts > 0) return;
        const bool spilled = std::any_of(work->keys.begin(), work->keys.end(),
                                         [this](iteration_book::key k) { return book_.find(k)->block.in_spill; });
        if (spilled && unspilled_) return;
        waiting_.pop_front();
        if (spilled) unspilled_ = work;
        if (work->is_early_part()) ++under_way.parts;
        write(work);
    }
}

void file_queue::write(const std::shared_ptr<file_work>& work) {
    work->request.compress = settlement_.compresses();
    assembly_.find_bytes(*work);
    // A failing store is tried again; the pool sleeps between the attempts, not the loop.
    pool_.submit(
        [this, work] {
            file_record record{};
            record.first_iteration = work->request.iterations.front();
            record.last_iteration = work->request.iterations.back();
            record.part = work->request.part;
            record.complete_ns = work->complete_ns;
            const auto storing = turns_.begin(output_.directory_of(work->request.store), bytes_of(work->request));
            const int64_t waited_ns = storing->waited_ns();
            record.begin_ns = realtime_ns();
            if (work->give_up_ns == 0) work->give_up_ns = monotonic_ns() + data_.server.retry.count();
            const auto lost = output_.look_for_lost_directories();
            work->request.storing = storing.get();
            result<file_report> outcome = output_.write(work->request);
            work->request.storing = nullptr;
            record.end_ns = realtime_ns();
            // What it waited in the midst of the file is none of the file's own time.
            work->paused_ns = storing->waited_ns() - waited_ns;
            work->give_up_ns += work->paused_ns;
            if (outcome) outcome->write_ns -= work->paused_ns;
            record.slot_wait_ns = waited_ns;
            if (work->not_before_ns > 0)
                record.slot_wait_ns = std::max<int64_t>(0, record.begin_ns - record.complete_ns);
            pool_.add_wait(storing->waited_ns());
            work->unasked_bytes += storing->unasked_bytes();
            inbox_.tell([this, work, outcome, record, lost] {
                losses_.directory_lost(lost);
                for (const std::string& remark : turns_.take_remarks()) journal_.note(remark);
                written(work, outcome, record);
            });
        },
        work->not_before_ns, work->wait);
}

void file_queue::written(const std::shared_ptr<file_work>& work, const result<file_report>& outcome,
                         const file_record& begun) {
    of_store& under_way = under_way_[work->request.store];
    --under_way.files;
    if (work->is_early_part()) --under_way.parts;
    work->spilled.clear();
    if (unspilled_ == work) unspilled_.reset();
    if (!outcome && monotonic_ns() < work->give_up_ns) {
        journal_.note(outcome.why().message + "; trying again");
        work->not_before_ns = monotonic_ns() + pause_after_failure_ns;
        work->wait = worker_pool::patience::firm;
        submit_again(work);
        return;
    }
    begin_waiting();
    settlement_.settle(*work, outcome, begun, false);
}

}  // namespace halcyon::offload
