#include "logfs/mount/state/shared_file.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.hpp"
#include "logfs/container/format/dropping_name.hpp"

namespace halcyon::logfs {
namespace {

constexpr int64_t second_ns = 1'000'000'000;
/// What programs with buffers of their own fill before they write: glibc, coreutils, Fortran.
constexpr int64_t good_transfer_bytes = int64_t{128} << 10;
/// Of an index that is kept though nobody uses it.
constexpr uint64_t small_index_bytes = uint64_t{16} << 20;

uint64_t mixed(uint64_t number) {
    number = (number ^ (number >> 31)) * 0x9E3779B97F4A7C15u;
    return number ^ (number >> 29);
}

}  // namespace

/// No other thread is in the middle of something with the log.
class shared_file::held {
  public:
    explicit held(log_file& of) : of_(of) { of_.hold(); }
    ~held() { of_.let_go(); }
    held(const held&) = delete;
    held& operator=(const held&) = delete;

  private:
    log_file& of_;
};

/// For as long as it lives, the owner of a container may use its marker, whatever the file's mode says: who may use the
/// file is the kernel's matter, and a file that its owner may not read has a status, and a mode that can be changed.
class shared_file::lent_marker {
  public:
    explicit lent_marker(int directory) : directory_(directory) {
        struct stat there {};
        if (calls_.status_at(directory_, marker_name.data(), there) != 0 || !S_ISREG(there.st_mode)) return;
        mode_ = there.st_mode & 07777;
        is_lent_ = calls_.set_mode_at(directory_, marker_name.data(), mode_ | lent) == 0;
    }
    ~lent_marker() {
        struct stat there {};
        if (!is_lent_ || calls_.status_at(directory_, marker_name.data(), there) != 0) return;
        if ((there.st_mode & 07777) == (mode_ | lent)) calls_.set_mode_at(directory_, marker_name.data(), mode_);
    }
    lent_marker(const lent_marker&) = delete;
    lent_marker& operator=(const lent_marker&) = delete;

  private:
    static constexpr mode_t lent = S_IRUSR | S_IWUSR;
    file_calls& calls_ = kernel_files();
    const int directory_;
    mode_t mode_ = 0;
    bool is_lent_ = false;
};

/// The container knows a path by which this process alone finds it.
failure shared_file::shown(failure why) const {
    if (why.message.starts_with(opened_as_)) why.message.replace(0, opened_as_.size(), shown_as_);
    return why;
}

result<void> shared_file::shown(result<void> done) const {
    return done ? done : result<void>(shown(done.why()));
}

result<void> shared_file::open_once(int directory, const writer_identity& who, const opening& how) {
    const std::lock_guard alone(opening_);
    if (is_open_) return {};
    opened_as_ = "/proc/self/fd/" + std::to_string(directory);
    if (auto found = find_owner(directory); !found) return found;
    const acting_as itself = owner();
    opening mine = how;
    // What a node keeps of indexes is this process' own, and for no other user to change.
    if (acts_as_another()) mine.index_folder = "none";
    const int64_t now = monotonic_ns();
    auto opened = log_.open(opened_as_, who, mine);
    if (!opened && opened.why().system_errno == EACCES) {
        const lent_marker lent(directory);
        opened = log_.open(opened_as_, who, mine);
    }
    if (!opened && opened.why().system_errno == EROFS && mine.may_write) {
        mine.may_write = false;
        opened = log_.open(opened_as_, who, mine);
    }
    if (!opened) return shown(opened);
    is_open_ = true;
    refreshed_ns_ = now;
    note_others();
    return {};
}

result<void> shared_file::find_owner(int directory) {
    auto found = owner_of_container(directory);
    if (!found) return failure{found.why().kind, shown_as_ + ": " + found.why().message, found.why().system_errno};
    owner_ = *std::move(found);
    return {};
}

result<void> shared_file::create(int folder, const char* name, const writer_identity& who, const opening& how) {
    const std::lock_guard alone(opening_);
    opened_as_ = "/proc/self/fd/" + std::to_string(folder) + "/" + name;
    opening mine = how;
    if (acts_as_another()) mine.index_folder = "none";
    if (auto opened = log_.open(opened_as_, who, mine); !opened) return shown(opened);
    struct stat there {};
    if (const int done = log_.of().calls().status(log_.of().directory(), there); done != 0)
        return shown(log_.of().failed({}, "cannot be looked at", -done));
    key_ = key_of(there);
    if (auto found = find_owner(log_.of().directory()); !found) return found;
    is_open_ = true;
    refreshed_ns_ = monotonic_ns();
    return {};
}

result<int64_t> shared_file::read(int64_t offset, std::span<std::byte> out) {
    const acting_as itself = owner();
    has_read_.store(true, std::memory_order_relaxed);
    auto read = log_.read(offset, out);
    return read ? read : result<int64_t>(shown(read.why()));
}

result<int64_t> shared_file::write(int64_t offset, std::span<const std::byte> bytes) {
    const acting_as itself = owner();
    auto written = log_.write(offset, bytes);
    if (!written) return shown(written.why());
    has_written_.store(true, std::memory_order_relaxed);
    return written;
}

result<log_file::appended> shared_file::append(std::span<const std::byte> bytes) {
    const acting_as itself = owner();
    auto appended = log_.append(bytes);
    if (!appended) return shown(appended.why());
    has_written_.store(true, std::memory_order_relaxed);
    note_others();
    return appended;
}

result<void> shared_file::resize(int64_t bytes) {
    const acting_as itself = owner();
    const auto size = log_.size();
    if (!size) return shown(size.why());
    if (*size == bytes) return {};
    auto done = shown(*size < bytes ? log_.reach(bytes) : log_.truncate(bytes));
    if (done.ok()) has_written_.store(true, std::memory_order_relaxed);
    return done;
}

result<void> shared_file::reach(int64_t bytes) {
    const acting_as itself = owner();
    const auto size = log_.size();
    if (!size) return shown(size.why());
    return bytes > *size ? resize(bytes) : result<void>();
}

result<void> shared_file::erase(int64_t offset, int64_t bytes) {
    const acting_as itself = owner();
    const auto size = log_.size();
    if (!size) return shown(size.why());
    const int64_t within = std::min(bytes, *size - offset);
    if (within <= 0) return {};
    auto done = shown(log_.erase(offset, within));
    if (done.ok()) has_written_.store(true, std::memory_order_relaxed);
    return done;
}

result<int64_t> shared_file::next_data(int64_t offset) {
    const acting_as itself = owner();
    auto found = log_.next_data(offset);
    return found ? found : result<int64_t>(shown(found.why()));
}

result<int64_t> shared_file::next_hole(int64_t offset) {
    const acting_as itself = owner();
    auto found = log_.next_hole(offset);
    return found ? found : result<int64_t>(shown(found.why()));
}

result<void> shared_file::sync() {
    const acting_as itself = owner();
    return shown(log_.sync());
}

result<void> shared_file::settle() {
    const acting_as itself = owner();
    return shown(log_.settle());
}

result<void> shared_file::close() {
    const acting_as itself = owner();
    const std::lock_guard alone(opening_);
    if (!std::exchange(is_open_, false)) return {};
    return shown(log_.close());
}

result<void> shared_file::refresh() {
    const acting_as itself = owner();
    const int64_t now = monotonic_ns();
    if (auto taken = log_.refresh(); !taken) return shown(taken);
    refreshed_ns_ = now;
    note_others();
    return {};
}

result<void> shared_file::refresh_as_of(int64_t time_ns) {
    return refreshed_ns_ >= time_ns ? result<void>() : refresh();
}

/// Changes with each change that others make, whatever this mount writes.
uint64_t shared_file::signature_of_others() {
    const held alone(log_);
    const auto& writing = log_.writing();
    const std::string_view mine = writing ? writing->name() : std::string_view();
    const dropping_table& writers = log_.reading()->writers();
    uint64_t all = 0;
    for (uint32_t i = 0; i < writers.size(); ++i) {
        if (mine == writers.name_of(i)) continue;
        const dropping& each = writers[i];
        const uint64_t who = mixed(static_cast<uint64_t>(each.created_ns) ^ mixed(static_cast<uint64_t>(each.pid)));
        all += mixed(who ^ mixed(each.state_sequence + 1));
    }
    return all + static_cast<uint64_t>(log_.reading()->plfs_index_bytes());
}

void shared_file::note_others() {
    const uint64_t now = signature_of_others();
    const std::lock_guard alone(pages_);
    if (now == others_) return;
    others_ = now;
    are_stale_ = true;
}

/// The kernel drops its pages when an open does not say that it may keep them: some time after this returned. Until
/// then nobody else is told to keep them.
bool shared_file::may_keep_pages() {
    const std::lock_guard alone(pages_);
    const int64_t now = monotonic_ns();
    if (std::exchange(are_stale_, false)) {
        dropped_ns_ = now;
        return false;
    }
    return now - dropped_ns_ > second_ns;
}

result<void> shared_file::status(int64_t age_ns, struct stat& out) {
    const acting_as itself = owner();
    if (monotonic_ns() - refreshed_ns_ >= age_ns) {
        if (auto taken = refresh(); !taken) return taken;
    }
    if (auto looked = log_.status(out); !looked) return shown(looked);
    out.st_nlink = has_name_ ? 1 : 0;
    out.st_blksize = good_transfer_bytes;
    return {};
}

result<void> shared_file::set_times(const timespec times[2]) {
    const acting_as itself = owner();
    const int64_t now = monotonic_ns();
    if (auto set = log_.set_times(times); !set) return shown(set);
    refreshed_ns_ = now;
    note_others();
    return {};
}

result<void> shared_file::set_mode(mode_t mode) {
    return shown(log_.set_mode(mode));
}

result<void> shared_file::set_owner(uid_t user, gid_t group) {
    if (auto done = log_.set_owner(user, group); !done) return shown(done);
    return find_owner(log_.of().directory());
}

/// A view that was read is held (held_view.hpp): a refresh lets it go. Others may have used it again meanwhile, and
/// have written, so that it was closed behind them.
bool shared_file::rest() {
    const acting_as itself = owner();
    const std::lock_guard alone(opening_);
    if (!is_open_) return false;
    if (has_read_.exchange(false) && !refresh()) return false;
    const held whole(log_);
    log_.reading()->files().close_all();
    return log_.reading()->memory().used() <= small_index_bytes;
}

}  // namespace halcyon::logfs
