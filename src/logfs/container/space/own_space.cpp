#include "logfs/container/space/own_space.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace halcyon::logfs {
namespace {

int64_t to_blocks(int64_t bytes) {
    constexpr int64_t block = dead_blocks::block;
    return (bytes + block - 1) / block * block;
}

/// When its writer wrote last.
int64_t latest_of(const dropping& of) {
    int64_t latest = of.base.time_ns;
    for (uint32_t i = 0; i < of.live_runs; ++i) latest = std::max(latest, of.live[i].last_ns);
    return latest;
}

/// Of this process, for the moment.
bool will_pass(int why) {
    return why == -EMFILE || why == -ENFILE || why == -ENOMEM;
}

}  // namespace

void own_space::begin(int64_t least_bytes) {
    least_bytes_ = least_bytes;
    forget_parts();
    given_back_.release();
    replaced_bytes_ = attended_bytes_ = live_bytes_ = committed_bytes_ = 0;
    has_cut_ = false;
}

void own_space::cut(int64_t to, int64_t end, int64_t size, int64_t seen_ns, const writer& by) {
    if (to < end) may_have_replaced(end - to, by);
    if (to > 0 || size < least_bytes_ || seen_ns > furthest_ns) return;
    has_cut_ = true;
    cut_over_ns_ = seen_ns;
}

void own_space::give_back(reader& shown, writer& by) {
    if (!by.index().has_uncommitted()) replaced_bytes_ = 0;
    attended_bytes_ = replaced_bytes_;
    if (is_refused_ || by.is_staged() || by.is_shared()) {
        has_cut_ = false;
        return;
    }
    if (parts_.empty()) {
        const bool has_found = find(shown, by);
        has_cut_ = has_cut_ && has_found;
        if (!has_found || parts_.empty()) return forget_parts();
    }
    shown.let_go();
    int done = giving_back_.announce();
    if (done == 0) done = giving_back_.wait(false);
    if (done == 0) done = punch();
    if (done == -EAGAIN) return;
    if (!will_pass(done)) giving_back_.note(done);
    is_refused_ = done != 0 && !will_pass(done);
    forget_parts();
}

bool own_space::find(reader& shown, writer& by) {
    const bool is_committed = !by.index().has_uncommitted();
    // What may still grow is no record yet.
    if (!is_committed && !by.settle().ok()) return false;
    reader_options how;
    how.most_descriptors = 3;
    how.stops_at_commit = is_committed;
    how.verifies_data = true;  // for where the sums are: nothing is read
    looking_.emplace(container_, how);
    const bool has_found = find_own(by, is_committed);
    looking_.reset();
    if (!has_found || (has_cut_ && !find_older(shown, by, is_committed))) return false;
    has_cut_ = has_cut_ && !is_committed;
    return parts_.empty() || is_committed || by.sync_index() == 0;
}

bool own_space::find_own(writer& by, bool is_committed) {
    if (!looking_->reload_writer(by.name()).ok()) return false;
    const uint32_t number = looking_->writers().find(by.name());
    const dropping& own = looking_->writers()[number];
    dead_blocks found(memory_);
    if (!found.look(*looking_).ok()) return false;
    live_bytes_ = found.live_bytes(number);
    // What is not summed yet will be summed with what follows.
    const int64_t end = own.has_checks ? std::min(own.data_bytes, looking_->checks().summed(number)) : own.data_bytes;
    page_array<byte_range> dead(memory_);
    if (!found.find(number, is_committed ? 0 : committed_bytes_, end, dead)) return false;
    if (!subtract(dead.all(), given_back_.all(), ranges_)) return false;
    // Fewer are not worth their calls.
    if (total_bytes(ranges_.all()) < least_bytes_ / 4) {
        ranges_.clear();
        return true;
    }
    return parts_.push({with_kind(by.name(), dropping_kind::data), 0, ranges_.size(), true});
}

/// All data of writers that had ended when this one cut the file to nothing.
bool own_space::find_older(const reader& shown, const writer& by, bool is_committed) {
    const dropping_table& writers = shown.writers();
    for (uint32_t i = 0; i < writers.size(); ++i) {
        const dropping& each = writers[i];
        if (!each.is_closed || !each.has_header || each.has_damage || each.is_gone) continue;
        if (latest_of(each) > cut_over_ns_ || by.name() == writers.name_of(i)) continue;
        const int64_t begin = is_committed ? 0 : to_blocks(each.committed_bytes);
        const int64_t end = to_blocks(each.data_bytes);
        const short_name name = writers.data_name_of(i);
        struct stat file {};
        const bool is_there = container_.calls().status_at(container_.directory(), name.c_str(), file) == 0;
        // A node's writers share it, or all of it was given back before.
        if (begin >= end || !is_there || file.st_nlink > 1 || file.st_blocks == 0) continue;
        if (!ranges_.push({begin, end}) || !parts_.push({name, ranges_.size() - 1, 1, false})) return false;
    }
    return true;
}

int own_space::punch() {
    int64_t punched_bytes = 0;
    for (const part& each : parts_) {
        const auto dead = ranges_.all().subspan(each.first, each.count);
        const int done = giving_back_.punch(each.data_name.c_str(), dead, punched_bytes);
        if (done != 0 && each.is_own) return done;
        // Others' may be another user's, or be gone by now.
        if (each.is_own && !unite(given_back_, dead)) return -ENOMEM;
    }
    return 0;
}

void own_space::forget_parts() {
    giving_back_.end();
    parts_.release();
    ranges_.release();
}

}  // namespace halcyon::logfs
