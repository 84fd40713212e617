#include "coordinate/agent/file_writer.hpp"

#include <algorithm>
#include <utility>

#include "base/replace_file.hpp"
#include "base/try_thread.hpp"

namespace halcyon::coordinate {

file_writer::~file_writer() {
    if (thread_.joinable()) thread_.join();
    for (const file& one : waiting_) static_cast<void>(replace_file(one.path, one.text));
}

void file_writer::write(std::string path, std::string text) {
    const std::lock_guard here(mutex_);
    std::erase_if(waiting_, [&](const file& one) { return one.path == path; });
    waiting_.push_back({std::move(path), std::move(text)});
    start();
}

void file_writer::try_again() {
    const std::lock_guard here(mutex_);
    if (!waiting_.empty()) start();
}

/// With the mutex.
void file_writer::start() {
    looks_again_ = true;
    if (runs_) return;
    if (thread_.joinable()) thread_.join();  // it has ended
    runs_ = try_thread(thread_, [this] { run(); });
    threads_missing_ += runs_ ? 0 : 1;
}

void file_writer::run() {
    for (;;) {
        std::vector<file> batch;
        {
            const std::lock_guard here(mutex_);
            runs_ = std::exchange(looks_again_, false);
            if (!runs_) return;
            batch.swap(waiting_);
        }
        std::erase_if(batch, [](const file& one) { return replace_file(one.path, one.text).ok(); });
        put_back(std::move(batch));
    }
}

/// Where there is nothing newer.
void file_writer::put_back(std::vector<file> failed) {
    const std::lock_guard here(mutex_);
    std::erase_if(failed, [this](const file& old) {
        return std::ranges::any_of(waiting_, [&](const file& one) { return one.path == old.path; });
    });
    waiting_.insert(waiting_.begin(), std::make_move_iterator(failed.begin()), std::make_move_iterator(failed.end()));
}

}  // namespace halcyon::coordinate
