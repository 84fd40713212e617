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
    add({std::move(path), std::move(text)});
}

bool file_writer::write_if_room(std::string path, std::string text) {
    const std::lock_guard here(mutex_);
    const bool waits = std::ranges::any_of(waiting_, [&](const file& one) { return one.path == path; });
    if (!waits && waiting_.size() + being_written_ >= most_kept) return false;
    add({std::move(path), std::move(text)});
    return true;
}

void file_writer::try_again() {
    const std::lock_guard here(mutex_);
    if (waiting_.empty() || ++left_out_ < pause_) return;
    start();
}

uint64_t file_writer::tries() {
    const std::lock_guard here(mutex_);
    return tries_;
}

bool file_writer::is_writing() {
    const std::lock_guard here(mutex_);
    return runs_;
}

/// With the mutex.
void file_writer::add(file what) {
    std::erase_if(waiting_, [&](const file& one) { return one.path == what.path; });
    waiting_.push_back(std::move(what));
    if (pause_ == 0) start();
}

/// With the mutex.
void file_writer::start() {
    looks_again_ = true;
    left_out_ = 0;
    ++tries_;
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
            being_written_ = batch.size();
        }
        std::erase_if(batch, [](const file& one) { return replace_file(one.path, one.text).ok(); });
        put_back(std::move(batch));
    }
}

/// Where there is nothing newer.
void file_writer::put_back(std::vector<file> failed) {
    const std::lock_guard here(mutex_);
    const bool all = !failed.empty() && failed.size() == being_written_;
    pause_ = all ? std::clamp(2 * pause_, 1U, longest_pause) : 0;
    being_written_ = 0;
    std::erase_if(failed, [this](const file& old) {
        return std::ranges::any_of(waiting_, [&](const file& one) { return one.path == old.path; });
    });
    waiting_.insert(waiting_.begin(), std::make_move_iterator(failed.begin()), std::make_move_iterator(failed.end()));
}

}  // namespace halcyon::coordinate
