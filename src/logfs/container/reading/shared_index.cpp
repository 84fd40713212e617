#include "logfs/container/reading/shared_index.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace halcyon::logfs {
namespace {

/// In front of the dropping table.
struct saved_progress {
    int64_t latest_ns;
};

/// Behind it, for each dropping.
using file_identity = index_intake::file_identity;
static_assert(has_copied_layout<saved_progress, 8, 8>() && has_copied_layout<file_identity, 16, 8>());

/// Of an extent in an index dropping, or thereabouts.
constexpr uint64_t bytes_of_entry = 12;

bool is_same_file(const struct stat& a, const struct stat& b) {
    return a.st_ino == b.st_ino && a.st_dev == b.st_dev && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
           a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

/// Of a writer that has not begun nothing was taken.
bool has_begun(const dropping& of) {
    return of.has_header && !of.is_gone && of.state_sequence > 0;
}

}  // namespace

shared_index::shared_index(container& of, memory_source& memory, dropping_table& writers, merged_index& index,
                           index_intake& intake)
    : container_(of), memory_(memory), writers_(writers), index_(index), intake_(intake), turn_(of.calls(), memory) {}

void shared_index::set(const index_sharing& how, std::string_view boot_id) {
    how_ = how;
    boot_id_ = short_name(boot_id);
    // Without it nobody can say whether a crash of the node lies in between.
    if (boot_id.empty() || boot_id.size() >= boot_id_room) how_.folder = {};
}

bool shared_index::identify(image_owner& out) const {
    struct stat there {};
    if (container_.calls().status(container_.directory(), there) != 0) return false;
    out = {there.st_dev, there.st_ino, container_.id(), {}};
    boot_id_.view().copy(out.boot_id, sizeof out.boot_id - 1);
    return true;
}

void shared_index::begin() {
    if (has_begun_ || how_.folder.empty()) return;
    has_begun_ = true;
    coming_bytes_ = 0;
    // Something was taken of a writer of this process, which created the container.
    if (writers_.size() > 0 && !has_rested_) return;
    if (writers_.size() == 0) take_what_is_there();
    intake_.set_watch(*this);
    may_wait_ = true;
}

/// Others may have begun to merge, or have ended, since this one looked for an image.
bool shared_index::comes(uint64_t bytes) {
    if (!may_wait_) return true;
    coming_bytes_ += bytes;
    if (coming_bytes_ / bytes_of_entry < least_more()) return true;
    may_wait_ = false;
    begins_anew_ = is_left_by_another();
    return !begins_anew_;
}

/// More than this one has begun with. False: this one merges, whether others wait for it or not.
bool shared_index::is_left_by_another() {
    short_name name;
    if (node_folder::name_of(container_.calls(), container_.directory(), name) != 0) return false;
    const int begun = turn_.begin(how_.folder, name);
    const bool is_mine = begun == 0;
    if (!is_mine && begun != -EAGAIN) return false;
    if (!is_mine) turn_.wait(how_.most_wait_ns);
    const bool is_left = has_newer(turn_.folder(), name);
    if (is_mine && !is_left) return false;
    turn_.end(is_left);
    // Those who come from now on wait for this one, or for another one that has waited like this one.
    if (!is_left && turn_.begin(how_.folder, name) == -EAGAIN) turn_.end(true);
    return is_left;
}

bool shared_index::has_newer(node_folder& folder, const short_name& name) {
    file_calls& calls = container_.calls();
    int64_t bytes = 0;
    const int fd = folder.open_file(name, bytes);
    if (fd < 0) return false;
    struct stat there {};
    image_owner owner;
    image_reader image(calls, memory_, fd);
    const bool is_newer = calls.status(fd, there) == 0 && !is_same_file(there, seen_) && identify(owner) &&
                          image.read_header(owner, bytes) && image.header().entries > shared_entries_;
    calls.close(fd);
    return is_newer;
}

bool shared_index::begins_anew() {
    if (!begins_anew_) return false;
    begins_anew_ = false;
    forget();
    take_what_is_there();
    return true;
}

void shared_index::end() {
    may_wait_ = false;
    turn_.end(has_left_);
}

void shared_index::take_what_is_there() {
    file_calls& calls = container_.calls();
    node_folder folder(calls, memory_);
    short_name name;
    if (folder.open(how_.folder, false) != 0 || node_folder::name_of(calls, container_.directory(), name) != 0) return;
    int64_t bytes = 0;
    const int fd = folder.open_file(name, bytes);
    if (fd < 0) return;
    is_used_ = calls.status(fd, seen_) == 0 && take_image(fd, bytes);
    calls.close(fd);
    if (is_used_) return;
    forget();
    is_rejected_ = true;
}

bool shared_index::take_image(int fd, int64_t bytes) {
    image_owner owner;
    image_reader from(container_.calls(), memory_, fd);
    if (!identify(owner) || !from.read_header(owner, bytes) || !from.read_tables() || !take_all(from)) return false;
    shared_entries_ = from.header().entries;
    return true;
}

bool shared_index::take_all(image_reader& from) {
    saved_progress progress{};
    if (!from.take(progress) || progress.latest_ns < 0 || !writers_.load(from)) return false;
    for (uint32_t number = 0; number < writers_.size(); ++number) {
        file_identity saved{};
        file_identity found{};
        if (!from.take(saved)) return false;
        if (!has_begun(writers_[number])) continue;
        if (intake_.confirm(number, found) != 1 || found != saved) return false;
    }
    return index_.load(from, writers_.size()) && intake_.go_on(progress.latest_ns);
}

/// Than the image that was taken or left last holds, to be worth another one.
uint64_t shared_index::least_more() const {
    return std::max(how_.least_entries, shared_entries_ / 4);
}

bool shared_index::is_worth_it(uint64_t entries) const {
    return entries >= shared_entries_ + least_more();
}

void shared_index::leave() {
    const uint64_t entries = index_.patterns() + index_.extents();
    if (how_.folder.empty() || !is_worth_it(entries) || !intake_.damages().empty()) return;
    // Where somebody else is at it, later; where it failed, never again.
    if (const int done = leave_image(entries); done != 0 && done != -EAGAIN) how_.folder = {};
}

int shared_index::leave_image(uint64_t entries) {
    file_calls& calls = container_.calls();
    node_folder folder(calls, memory_);
    short_name name;
    if (const int done = node_folder::name_of(calls, container_.directory(), name); done != 0) return done;
    if (const int done = folder.open(how_.folder, true); done != 0) return done;
    if (const int done = folder.begin_adding(); done != 0) return done;
    if (!is_rejected_ && has_been_left(folder, name, entries)) return 0;
    const uint64_t bytes = index_.extents() * sizeof(extent) + index_.patterns() * sizeof(placed_run);
    if (bytes > static_cast<uint64_t>(how_.most_bytes)) return -EFBIG;
    if (!folder.make_room(static_cast<int64_t>(bytes), how_.most_bytes)) return -ENOSPC;
    const int fd = folder.create(name);
    if (fd < 0) return fd;
    int done = write_image(fd, entries);
    const int closed = calls.close(fd);
    if (done == 0) done = closed;
    if (done == 0)
        done = folder.keep(name);
    else
        folder.drop(name);
    if (done != 0) return done;
    shared_entries_ = entries;
    is_rejected_ = false;
    has_left_ = true;
    return 0;
}

/// By another process, which has taken as much or nearly.
bool shared_index::has_been_left(node_folder& folder, const short_name& name, uint64_t entries) {
    int64_t bytes = 0;
    const int fd = folder.open_file(name, bytes);
    if (fd < 0) return false;
    image_owner owner;
    image_reader there(container_.calls(), memory_, fd);
    const bool is_image = identify(owner) && there.read_header(owner, bytes);
    container_.calls().close(fd);
    if (!is_image) return false;
    const uint64_t left = there.header().entries;
    if (entries >= left && entries - left >= std::max(how_.least_entries, left / 4)) return false;
    shared_entries_ = left;
    has_left_ = true;
    return true;
}

int shared_index::write_image(int fd, uint64_t entries) {
    image_owner owner;
    if (!identify(owner)) return -EIO;
    image_writer to(container_.calls(), memory_, fd);
    to.put(saved_progress{intake_.latest_ns()});
    writers_.save(to);
    for (uint32_t number = 0; number < writers_.size(); ++number) {
        file_identity found{};
        // Its name may have become that of another file since it was opened.
        if (has_begun(writers_[number]) && intake_.confirm(number, found) != 1) return -ESTALE;
        to.put(found);
    }
    index_.save(to);
    return to.finish(owner, entries);
}

void shared_index::reject() {
    forget();
    is_rejected_ = true;
}

void shared_index::forget() {
    writers_.release();
    index_.release();
    intake_.start_over();
    is_used_ = false;
    shared_entries_ = 0;
}

}  // namespace halcyon::logfs
