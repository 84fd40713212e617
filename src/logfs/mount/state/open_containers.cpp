#include "logfs/mount/state/open_containers.hpp"

#include <cerrno>
#include <vector>

namespace halcyon::logfs {
namespace {

bool has_no_descriptor(const failure& why) {
    return why.system_errno == EMFILE || why.system_errno == ENFILE;
}

}  // namespace

result<open_containers::use> open_containers::take(const file_key& key, int directory, std::string path) {
    shared file;
    {
        const std::lock_guard alone(lock_);
        shared& known = files_[key];
        if (!known) known = std::make_shared<shared_file>(key, std::move(path));
        file = known;
        end_idleness(*file);
        ++file->uses_;
    }
    use taken(*this, file);
    auto opened = file->open_once(directory, who_, how_);
    while (!opened && has_no_descriptor(opened.why()) && drop_idle()) opened = file->open_once(directory, who_, how_);
    if (opened.ok()) return result<use>(std::move(taken));
    const std::lock_guard alone(lock_);
    file->is_broken_ = true;
    forget(file);
    return opened.why();
}

result<open_containers::use> open_containers::create(int folder, const char* name, mode_t mode, std::string path) {
    auto file = std::make_shared<shared_file>(file_key{}, std::move(path));
    opening how = how_;
    how.creates = how.is_exclusive = true;
    how.mode = mode;
    auto created = file->create(folder, name, who_, how);
    if (!created) return created.why();
    const std::lock_guard alone(lock_);
    shared& known = files_[file->key()];
    // Another thread may have seen it first: then both use what that thread has.
    if (known) {
        end_idleness(*known);
    } else {
        known = file;
    }
    ++known->uses_;
    return result<use>(use(*this, known));
}

bool open_containers::remove_later(const file_key& key, const discarded& what) {
    const std::lock_guard alone(lock_);
    const auto known = files_.find(key);
    if (known == files_.end()) return false;
    const shared file = known->second;
    if (file->uses_ == 0) {
        end_idleness(*file);
        files_.erase(known);
        return false;
    }
    file->removed_ = what;
    file->has_name_ = false;
    return true;
}

/// Under the lock.
void open_containers::end_idleness(shared_file& of) {
    if (!of.is_idle_) return;
    idle_.erase(of.idle_at_);
    of.is_idle_ = false;
}

/// Under the lock.
void open_containers::forget(const shared& file) {
    if (const auto known = files_.find(file->key()); known != files_.end() && known->second == file)
        files_.erase(known);
}

void open_containers::leave(shared file) {
    std::vector<shared> beyond;
    {
        const std::lock_guard alone(lock_);
        if (--file->uses_ > 0) return;
        const bool ends = file->is_broken_ || file->has_written() || file->removed_;
        if (ends || most_idle_ == 0) {
            forget(file);
        } else {
            idle_.push_front(file);
            file->idle_at_ = idle_.begin();
            file->is_idle_ = true;
            while (idle_.size() > most_idle_) {
                beyond.push_back(idle_.back());
                forget(idle_.back());
                idle_.back()->is_idle_ = false;
                idle_.pop_back();
            }
        }
        if (ends || most_idle_ == 0) beyond.push_back(file);
    }
    for (const shared& each : beyond) finish(each);
    if (!beyond.empty() && beyond.back() == file) return;
    if (file->rest()) return;
    const std::lock_guard alone(lock_);
    if (!file->is_idle_) return;
    end_idleness(*file);
    forget(file);
}

/// Nobody uses it any more, nor can.
void open_containers::finish(const shared& file) {
    if (file->is_broken_) return;
    if (auto closed = file->close(); !closed) log_.say(closed.why().message);
    if (!file->removed_) return;
    if (auto removed = remove(*file->removed_); !removed) log_.say(removed.why().message);
}

bool open_containers::drop_idle() {
    std::list<shared> dropped;  // end after the lock
    const std::lock_guard alone(lock_);
    for (const shared& each : idle_) {
        each->is_idle_ = false;
        forget(each);
    }
    dropped.swap(idle_);
    return !dropped.empty();
}

void open_containers::close_all() {
    std::unordered_map<file_key, shared, hash_of_key> all;
    {
        const std::lock_guard alone(lock_);
        for (const shared& each : idle_) each->is_idle_ = false;
        idle_.clear();
        all.swap(files_);
    }
    for (const auto& [key, file] : all) finish(file);
}

}  // namespace halcyon::logfs
