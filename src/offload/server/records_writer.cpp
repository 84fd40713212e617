#include "offload/server/records_writer.hpp"

#include <utility>

namespace halcyon::offload {

records_writer::records_writer(run_records records, worker_pool& pool, std::function<void(const result<void>&)> said)
    : pool_(pool), said_(std::move(said)), records_(std::move(records)) {}

void records_writer::add(const phase_record& p) {
    take(true, [&p](batch& b) { b.phases.push_back(p); });
}

void records_writer::add(const file_record& f) {
    take(true, [&f](batch& b) { b.files.push_back(f); });
}

void records_writer::add(const steering_record& s) {
    take(true, [&s](batch& b) { b.steering.push_back(s); });
}

void records_writer::save(const run_counts& counts) {
    take(false, [&counts](batch& b) { b.counts = counts; });
}

template <class Put>
void records_writer::take(bool is_line, Put put) {
    {
        const std::lock_guard lock(waiting_mutex_);
        if (is_line && waiting_.lines() >= most_lines) {
            ++lost_;
            return;
        }
        put(waiting_);
        if (std::exchange(scheduled_, true)) return;
    }
    pool_.submit([this] { write_waiting(); });
}

void records_writer::write_waiting() {
    {
        const std::lock_guard lock(waiting_mutex_);
        scheduled_ = false;
    }
    const std::lock_guard writing(writing_mutex_);
    while (write_some()) {
    }
}

/// False: nothing waits.
bool records_writer::write_some() {
    batch now;
    {
        const std::lock_guard lock(waiting_mutex_);
        now = std::exchange(waiting_, {});
    }
    for (const phase_record& p : now.phases) records_.add(p);
    for (const file_record& f : now.files) records_.add(f);
    for (const steering_record& s : now.steering) records_.add(s);
    if (now.counts) {
        const bool said = unsaved_;
        if (const auto saved = write_counts(*std::move(now.counts)); saved.ok() == said) said_(saved);
    }
    return !now.empty();
}

result<void> records_writer::write_counts(run_counts counts) {
    counts.lost_records += [this] {
        const std::lock_guard lock(waiting_mutex_);
        return lost_;
    }();
    auto saved = records_.save(std::move(counts));
    unsaved_ = !saved;
    return saved;
}

result<void> records_writer::save_now(const run_counts& counts) {
    const std::lock_guard writing(writing_mutex_);
    while (write_some()) {
    }
    return write_counts(counts);
}

bool records_writer::unsaved() {
    const std::lock_guard writing(writing_mutex_);
    return unsaved_;
}

run_counts records_writer::saved_counts() {
    const std::lock_guard writing(writing_mutex_);
    return records_.saved_counts();
}

int64_t records_writer::phase_lines() {
    const std::lock_guard writing(writing_mutex_);
    return records_.phase_lines();
}

int64_t records_writer::lost_lines() {
    const std::lock_guard writing(writing_mutex_);
    const std::lock_guard lock(waiting_mutex_);
    return records_.lost_lines() + lost_;
}

}  // namespace halcyon::offload
