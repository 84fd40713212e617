#include "logfs/container/log_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "logfs/container/directory/access.hpp"
#include "logfs/container/directory/begun_container.hpp"
#include "logfs/container/directory/file_status.hpp"
#include "logfs/container/directory/open_mark.hpp"
#include "logfs/container/directory/past_writes.hpp"
#include "logfs/container/format/dropping_name.hpp"

namespace halcyon::logfs {

class log_file::guard {
  public:
    explicit guard(log_file& of) : lock_(of.how_.has_threads ? &of.lock_ : nullptr) {
        if (lock_ != nullptr) lock_->lock();
    }
    ~guard() {
        if (lock_ != nullptr) lock_->unlock();
    }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

  private:
    short_lock* const lock_;
};

log_file::~log_file() {
    if (container_.is_open()) static_cast<void>(close());
}

result<void> log_file::open(std::string_view path, const writer_identity& who, const opening& how) {
    if (container_.is_open())
        return failure{error_kind::usage, std::string(path) + ": another file is open here", EBUSY};
    who_ = who;
    how_ = how;
    has_new_writes_ = is_together_ = false;
    epoch_ns_ = 0;
    const bool must_be_new = how.creates && how.is_exclusive;
    result<void> opened = must_be_new ? result<void>() : open_container(path);
    bool is_new = false;
    if (must_be_new || (how.creates && !opened && opened.why().system_errno == ENOENT)) {
        opened = container_.create(path, how.mode, how.host_directories);
        is_new = opened.ok();
        // Another process may have been quicker.
        if (!is_new && opened.why().system_errno == EEXIST && !must_be_new) opened = open_container(path);
    }
    if (opened.ok() && how.may_write) opened = container_.expect_ours();
    if (opened.ok() && how.says_open) opened = say_it_is_open();
    if (opened.ok() && how.looks_for_past_writes && !is_new) opened = expect_no_past_writes(container_);
    if (!opened) {
        container_.close();
        return opened;
    }
    container_.place_on(how.backends);
    is_unsynced_ = is_new;
    reader_options reading = how.reading;
    reading.host = who_.host_view();
    reading.boot_id = who_.boot_view();
    node_folder_ = node_folder_named(how.index_folder);
    reading.sharing.folder = node_folder_.view();
    reader_.emplace(container_, reading);
    result<void> done = is_new ? result<void>() : take_others();
    if (done.ok() && how.truncates && how.may_write && !is_new && reader_->size() > 0) done = truncate(0);
    if (!done) static_cast<void>(close());
    return done;
}

result<void> log_file::open_container(std::string_view path) {
    auto opened = container_.open(path);
    if (opened.ok() || !how_.creates || opened.why().system_errno != EISDIR) return opened;
    return becomes_container(container_.calls(), AT_FDCWD, container_.path().data()) ? container_.open(path) : opened;
}

result<void> log_file::say_it_is_open() {
    const int done = say_open(container_.calls(), container_.directory(), container_.access_name());
    if (done < 0) return container_.failed(container_.access_name(), "cannot be held open", -done);
    open_mark_ = done;
    return {};
}

result<void> log_file::expect_open() const {
    if (reader_) return {};
    return failure{error_kind::usage, std::string(container_.path()) + ": no file is open here", EBADF};
}

/// Again without the droppings that are open for reading, where the process has no descriptor left.
template <class Call>
result<void> log_file::with_descriptors(Call call) {
    result<void> done = call();
    if (done.ok() || reader_->files().size() == 0) return done;
    if (done.why().system_errno != EMFILE && done.why().system_errno != ENFILE) return done;
    reader_->files().close_all();
    return call();
}

result<void> log_file::begin_writing() {
    if (auto open = expect_open(); !open) return open;
    if (!how_.may_write)
        return failure{error_kind::usage, std::string(container_.path()) + ": opened for reading only", EBADF};
    return writer_ ? result<void>() : open_writer(how_.writing);
}

result<void> log_file::open_writer(const writer_options& how) {
    writer_.emplace(container_);
    auto opened = with_descriptors([&] { return writer_->open(who_, how); });
    if (!opened) {
        writer_.reset();
        return opened;
    }
    writer_->follow(std::max(reader_->latest_ns(), epoch_ns_));
    if (is_together_) writer_->stop_clock();
    space_.begin(how_.least_given_back);
    return {};
}

bool log_file::has_no_room_on_node(const failure& why) const {
    const int error = why.system_errno;
    return writer_ && writer_->is_staged() && (error == ENOSPC || error == EDQUOT || error == EIO || error == EFBIG);
}

/// What it has written is on the device, and another writer goes on behind it: also where its close has failed.
result<void> log_file::end_writer() {
    if (auto synced = writer_->sync(); !synced) return synced;
    has_new_writes_ = true;
    if (auto taken = take_own(); !taken) return taken;
    auto closed = writer_->close();
    writer_.reset();
    epoch_ns_ = std::max(epoch_ns_, reader_->latest_ns());
    return closed;
}

/// What it has written is brought into the container, and another writer goes on there.
result<void> log_file::leave_node() {
    if (auto ended = end_writer(); !ended) return ended;
    writer_options in_container = how_.writing;
    in_container.stage = {};
    return open_writer(in_container);
}

/// What was written here since it was looked at last.
result<void> log_file::take_own() {
    if (auto open = expect_open(); !open) return open;
    if (!has_new_writes_) return {};
    auto taken = with_descriptors([this] { return reader_->reload_writer(writer_->name()); });
    if (taken.ok()) has_new_writes_ = false;
    return taken;
}

result<void> log_file::take_others() {
    if (auto open = expect_open(); !open) return open;
    auto taken = with_descriptors([this] { return reader_->reload(); });
    if (taken.ok() && writer_) writer_->follow(reader_->latest_ns());
    return taken;
}

result<void> log_file::take_all() {
    auto taken = take_others();
    return taken.ok() ? take_own() : taken;
}

result<int64_t> log_file::read(int64_t offset, std::span<std::byte> out) {
    const guard alone(*this);
    if (auto taken = take_own(); !taken) return taken.why();
    if (!how_.may_read)
        return failure{error_kind::usage, std::string(container_.path()) + ": opened for writing only", EBADF};
    auto read = reader_->read(offset, out);
    // It may have taken what others have published.
    if (writer_) writer_->follow(reader_->latest_ns());
    return read;
}

result<int64_t> log_file::copy_out(int64_t offset, int64_t bytes, int to, int64_t* to_offset, int64_t least_piece) {
    const guard alone(*this);
    if (auto taken = take_own(); !taken) return taken.why();
    if (!how_.may_read) return int64_t{0};
    auto copied = reader_->copy_out(offset, bytes, to, to_offset, least_piece);
    if (writer_) writer_->follow(reader_->latest_ns());
    return copied;
}

result<int64_t> log_file::write(int64_t offset, std::span<const std::byte> bytes) {
    const iovec whole{const_cast<std::byte*>(bytes.data()), bytes.size()};
    return write(offset, &whole, 1);
}

result<int64_t> log_file::write(int64_t offset, const iovec* parts, int count) {
    const guard alone(*this);
    if (!writer_) [[unlikely]] {
        if (auto begun = begin_writing(); !begun) return begun.why();
    }
    has_new_writes_ = true;
    const int64_t end_before = writer_->index().state().logical_end;
    auto written = writer_->write(offset, parts, count);
    if (written) [[likely]] {
        has_written(offset, *written, end_before);
        return written;
    }
    if (!has_no_room_on_node(written.why())) return written;
    if (auto left = leave_node(); !left) return left.why();
    has_new_writes_ = true;
    return writer_->write(offset, parts, count);
}

void log_file::has_written(int64_t offset, int64_t bytes, int64_t end_before) {
    space_.wrote(offset, bytes, end_before);
    if (space_.is_overdue(*writer_)) [[unlikely]]
        space_.give_back(*reader_, *writer_);
}

/// Nothing is created here for what may turn out to be nothing.
result<int64_t> log_file::copy_in(int64_t offset, int64_t bytes, int from, int64_t* from_offset) {
    const guard alone(*this);
    if (!writer_) return int64_t{0};
    has_new_writes_ = true;
    const int64_t end_before = writer_->index().state().logical_end;
    auto copied = writer_->copy_in(offset, bytes, from, from_offset);
    if (copied && *copied > 0) has_written(offset, *copied, end_before);
    return copied;
}

/// Whoever may write the file may open the lock, whatever the umask of its creator says.
result<void> log_file::lock_appends() {
    file_calls& calls = container_.calls();
    if (append_lock_ < 0) {
        const int fd = calls.open_at(container_.directory(), append_lock_name.data(), O_RDWR | O_CREAT, 0666);
        if (fd < 0) return container_.failed(append_lock_name, "cannot open", -fd);
        append_lock_ = fd;
        container_.share(append_lock_name.data(), 0666);
    }
    const int locked = calls.lock(append_lock_, true);
    return locked == 0 ? result<void>() : container_.failed(append_lock_name, "cannot lock", -locked);
}

result<log_file::appended> log_file::append(std::span<const std::byte> bytes) {
    const iovec whole{const_cast<std::byte*>(bytes.data()), bytes.size()};
    return append(&whole, 1);
}

result<log_file::appended> log_file::append(const iovec* parts, int count) {
    const guard alone(*this);
    if (auto begun = begin_writing(); !begun) return begun.why();
    if (auto locked = with_descriptors([this] { return lock_appends(); }); !locked) return locked.why();
    const result<void> fresh = take_all();
    const int64_t end = fresh.ok() ? reader_->size() : 0;
    result<int64_t> written = fresh.ok() ? writer_->write(end, parts, count) : result<int64_t>(fresh.why());
    has_new_writes_ = true;
    if (fresh.ok() && !written && has_no_room_on_node(written.why())) {
        const auto left = leave_node();
        written = left.ok() ? writer_->write(end, parts, count) : result<int64_t>(left.why());
        has_new_writes_ = true;
    }
    container_.calls().unlock(append_lock_);
    if (!written) return written.why();
    return appended{end, *written};
}

template <class Change>
result<void> log_file::change(Change change) {
    const guard alone(*this);
    if (auto begun = begin_writing(); !begun) return begun;
    has_new_writes_ = true;
    return change(*writer_);
}

result<void> log_file::truncate(int64_t bytes) {
    return change([&](writer& to) {
        const int64_t end_before = to.index().state().logical_end;
        auto cut = to.truncate(bytes);
        if (cut.ok()) space_.cut(bytes, end_before, reader_->size(), reader_->latest_ns(), to);
        return cut;
    });
}

result<void> log_file::reach(int64_t bytes) {
    return change([&](writer& to) { return to.reach(bytes); });
}

result<void> log_file::erase(int64_t offset, int64_t bytes) {
    return change([&](writer& to) {
        auto erased = to.erase(offset, bytes);
        if (erased.ok()) space_.erased(bytes, to);
        return erased;
    });
}

result<int64_t> log_file::size() {
    const guard alone(*this);
    if (auto taken = take_own(); !taken) return taken.why();
    return reader_->size();
}

result<int64_t> log_file::next_data(int64_t offset) {
    const guard alone(*this);
    if (auto taken = take_own(); !taken) return taken.why();
    return reader_->next_data(offset);
}

result<int64_t> log_file::next_hole(int64_t offset) {
    const guard alone(*this);
    if (auto taken = take_own(); !taken) return taken.why();
    return reader_->next_hole(offset);
}

result<void> log_file::status(struct stat& out) {
    const guard alone(*this);
    if (auto taken = take_own(); !taken) return taken;
    return with_descriptors([&] { return read_status(container_, {reader_->size(), reader_->latest_ns()}, out); });
}

result<void> log_file::set_times(const timespec times[2]) {
    const guard alone(*this);
    if (auto open = expect_open(); !open) return open;
    if (writer_) {  // what is written next begins a pattern of its own, later than all that was written by now
        if (auto settled = writer_->settle(); !settled) return settled;
        has_new_writes_ = true;
    }
    if (auto taken = take_all(); !taken) return taken;
    return with_descriptors([&] {
        return logfs::set_times(container_, {reader_->size(), reader_->latest_ns()}, times);
    });
}

result<void> log_file::set_mode(mode_t mode) {
    const guard alone(*this);
    if (auto open = expect_open(); !open) return open;
    return with_descriptors([&] { return logfs::set_mode(container_, mode); });
}

result<void> log_file::set_owner(uid_t user, gid_t group) {
    const guard alone(*this);
    if (auto open = expect_open(); !open) return open;
    return with_descriptors([&] { return logfs::set_owner(container_, user, group); });
}

result<void> log_file::refresh() {
    const guard alone(*this);
    return take_all();
}

/// The index dropping says the group in its head, which never changes.
result<void> log_file::join_group(uint64_t group) {
    const guard alone(*this);
    if (auto open = expect_open(); !open) return open;
    if (who_.group == group) return {};
    who_.group = group;
    return writer_ ? end_writer() : result<void>();
}

int64_t log_file::propose_epoch() {
    const guard alone(*this);
    if (writer_) return writer_->propose_epoch();
    epoch_ns_ = std::max(realtime_ns(), epoch_ns_ + 1);
    return epoch_ns_;
}

/// What has not written yet need not say it: what it writes later is later.
result<void> log_file::raise_epoch(int64_t time_ns) {
    const guard alone(*this);
    if (auto open = expect_open(); !open) return open;
    if (auto sound = writer::expect_epoch(container_, time_ns); !sound) return sound;
    epoch_ns_ = std::max(epoch_ns_, time_ns);
    if (!writer_) return {};
    has_new_writes_ = true;
    return writer_->raise_epoch(time_ns);
}

result<void> log_file::begin_together(int64_t time_ns) {
    if (auto raised = raise_epoch(time_ns); !raised) return raised;
    const guard alone(*this);
    is_together_ = true;
    if (writer_) writer_->stop_clock();
    return {};
}

result<void> log_file::end_together() {
    {
        const guard alone(*this);
        if (!std::exchange(is_together_, false)) return {};
        if (writer_) writer_->start_clock();
    }
    return raise_epoch(epoch_ns_ + writer::moment_ns);
}

result<void> log_file::settle() {
    const guard alone(*this);
    if (writer_) has_new_writes_ = true;
    return writer_ ? writer_->settle() : expect_open();
}

result<void> log_file::sync() {
    const guard alone(*this);
    if (auto synced = sync_writer(); !synced) return synced;
    // Its own first: of several processes that sync at a time, few then have to do so for others.
    return with_descriptors([this] { return others_.sync(who_, writer_ ? writer_->name() : std::string_view()); });
}

result<void> log_file::sync_own() {
    const guard alone(*this);
    return sync_writer();
}

result<void> log_file::sync_writer() {
    if (auto open = expect_open(); !open) return open;
    auto synced = with_descriptors([this]() -> result<void> {
        if (writer_ && !writer_->index().is_empty()) return writer_->sync();
        const int done = is_unsynced_ ? container_.sync() : 0;
        return done == 0 ? result<void>() : container_.failed({}, "cannot sync", -done);
    });
    if (!synced) return synced;
    is_unsynced_ = false;
    if (writer_) {
        space_.synced(*writer_);
        if (space_.is_worth_it()) space_.give_back(*reader_, *writer_);
    }
    return synced;
}

result<void> log_file::close_writer() {
    if (writer_ && space_.is_worth_it()) space_.give_back(*reader_, *writer_);
    space_.begin();
    return writer_ ? writer_->close() : result<void>();
}

result<void> log_file::rest(bool keeps_writer) {
    const guard alone(*this);
    if (auto open = expect_open(); !open) return open;
    result<void> done;
    if (writer_ && keeps_writer && writer_->may_rest()) {
        done = writer_->rest();
        has_new_writes_ = true;
    } else if (writer_) {
        // What it wrote is found as another process's is, should anybody ask.
        done = close_writer();
        writer_.reset();
        has_new_writes_ = false;
    }
    reader_->rest();
    if (append_lock_ >= 0) container_.calls().close(std::exchange(append_lock_, -1));
    return done;
}

result<void> log_file::close() {
    const guard alone(*this);
    const result<void> closed = close_writer();
    // A child that was forked off a moment ago has the same locks until it forgets the file.
    if (reader_) reader_->let_go();
    if (open_mark_ >= 0) say_closed(container_.calls(), open_mark_);
    forget();
    return closed;
}

uint32_t log_file::host_directory() const {
    const bool is_there = writer_ && writer_->is_open();
    return is_there ? writer_->host_directory() : writer::host_directory_for(container_, who_, how_.writing);
}

bool log_file::is_staged() const {
    return writer_ && writer_->is_open() ? writer_->is_staged() : !how_.writing.stage.empty();
}

void log_file::hold() {
    lock_.lock();
}

void log_file::let_go() {
    lock_.unlock();
}

void log_file::abandon() {
    lock_.forget_others();
    space_.begin();
    if (writer_) writer_->abandon();
    forget();
}

void log_file::forget() {
    writer_.reset();
    others_.forget();
    reader_.reset();
    if (append_lock_ >= 0) container_.calls().close(std::exchange(append_lock_, -1));
    if (open_mark_ >= 0) container_.calls().close(std::exchange(open_mark_, -1));
    container_.close();
}

}  // namespace halcyon::logfs
