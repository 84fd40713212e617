#include "logfs/container/writing/writer.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "logfs/container/files/whole_transfer.hpp"
#include "logfs/container/writing/node_data.hpp"

namespace halcyon::logfs {

writer::~writer() {
    if (is_open()) static_cast<void>(close());
}

result<void> writer::open(const writer_identity& who, const writer_options& how) {
    if (is_open()) return nonsense("the writer is open", EBUSY);
    const int done = create_droppings(who, how);
    if (done != 0) return index_failed("cannot create", done);
    has_data_checks_ = how.has_data_checks;
    has_unsynced_data_ = false;
    has_unsynced_names_ = true;
    data_bytes_ = own_data_bytes_ = 0;
    has_clock_ = true;
    epoch_end_ = {};
    brought_bytes_ = 0;
    sync_failed_ = 0;
    checker_ = {};
    return {};
}

uint32_t writer::host_directory_for(const container& in, const writer_identity& who, const writer_options& how) {
    return host_directory_for(in.host_directories(), in.has_other_backends(), who, how);
}

uint32_t writer::host_directory_for(uint32_t host_directories, bool has_other_backends, const writer_identity& who,
                                    const writer_options& how) {
    const uint32_t of_host = host_directory_of(who.host_view(), host_directories);
    // Over all backends, also where there is one node; the logs of a node stay together.
    if (!has_other_backends || how.shares_with_node) return of_host;
    return (of_host + static_cast<uint32_t>(who.pid)) % host_directories;
}

int writer::create_droppings(const writer_identity& who, const writer_options& how) {
    index_header header{};
    std::memcpy(header.magic, index_magic, sizeof header.magic);
    header.version = format_version;
    header.byte_order = byte_order_mark;
    header.has_checks = how.has_data_checks ? 1 : 0;
    header.group = who.group;
    header.clock_bound_ns = who.clock_bound_ns;
    header.pid = who.pid;
    header.rank = who.rank;
    header.block_size = block_bytes;
    std::memcpy(header.host, who.host, sizeof header.host);
    std::memcpy(header.boot_id, who.boot_id, sizeof header.boot_id);

    const std::string_view host = who.host_view();
    host_directory_ = host_directory_for(container_, who, how);
    if (const int done = container_.make_host_directory(host_directory_); done != 0) return done;
    // Another writer of this process, or one of its number on another host of this name, may have the same moment.
    for (header.created_ns = realtime_ns();; ++header.created_ns) {
        const int done = create_dropping_pair(header, host, how);
        if (done != -EEXIST) return done;
    }
}

/// The data dropping first: where there is an index dropping, there is one for the data, too.
int writer::create_dropping_pair(index_header header, std::string_view host, const writer_options& how) {
    file_calls& calls = container_.calls();
    header.salt = salt_of(header.created_ns, header.pid);
    header.check = check_of(header, 0);
    index_name_ = dropping_path(host_directory_, {host, header.pid, header.created_ns, dropping_kind::index});
    data_name_ = with_kind(index_name_.view(), dropping_kind::data);
    // What a node shares has bytes of others from the beginning: there the index comes first.
    const bool begins_with_index = how.shares_with_node && !how.has_data_checks && how.stage.empty();
    const auto create_index = [&] {
        return index_.create(container_.directory(), index_name_.c_str(), header, how.may_map_index);
    };
    if (begins_with_index) {
        if (const int done = create_index(); done != 0) return done;
    }
    data_fd_ = create_data(host, how);
    int done = data_fd_ < 0 ? data_fd_ : 0;
    if (done == 0 && !begins_with_index) done = create_index();
    if (done == 0) {
        if (!is_staged_ && !is_shared_) container_.share(data_name_.c_str(), 0444);
        container_.share(index_name_.c_str(), 0444);
        return 0;
    }
    if (data_fd_ >= 0) {
        calls.close(data_fd_);
        remove_data();
    }
    data_fd_ = -1;
    if (begins_with_index) {
        index_.abandon();
        calls.remove_at(container_.directory(), index_name_.c_str(), false);
    }
    return done;
}

int writer::create_data(std::string_view host, const writer_options& how) {
    is_staged_ = is_shared_ = false;
    why_not_staged_ = 0;
    if (!how.stage.empty()) {
        const int fd = create_staged_data(host, how.stage);
        is_staged_ = fd >= 0;
        if (is_staged_ || fd == -EEXIST) return fd;
        why_not_staged_ = fd;
    }
    is_shared_ = how.shares_with_node && !how.has_data_checks && how.stage.empty();
    if (is_shared_) {
        const int fd = node_data::open(container_, data_name_.view(), host);
        if (fd >= 0 || fd == -EEXIST) return fd;
        is_shared_ = false;
    }
    return container_.calls().open_at(container_.directory(), data_name_.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644);
}

/// The file before the mark that names it: a mark without a file would mean that data were lost. -EEXIST: another
/// writer has these names.
int writer::create_staged_data(std::string_view host, std::string_view stage) {
    file_calls& calls = container_.calls();
    mark_.set(host, stage, container_.id());
    char path[staged_path_room];
    mark_.path_of(data_name_.view(), path, sizeof path);
    // All users of the node share the folder, as they do /tmp.
    char above[staged_path_room];
    std::memcpy(above, mark_.folder(), std::strlen(mark_.folder()) + 1);
    *std::strrchr(above, '/') = '\0';
    if (calls.make_directory_at(AT_FDCWD, above, 01777) == 0) calls.set_mode_at(AT_FDCWD, above, 01777);
    struct stat of_container {};
    if (const int done = calls.status(container_.directory(), of_container); done != 0) return done;
    const mode_t mode = of_container.st_mode & 0777;
    if (calls.make_directory_at(AT_FDCWD, mark_.folder(), mode) == 0) {
        calls.set_mode_at(AT_FDCWD, mark_.folder(), mode);
        say_whose_it_is();
    }
    const int fd = calls.open_at(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
    if (fd < 0) return fd;
    calls.set_mode_at(AT_FDCWD, path, 0600 | (mode & 0444));
    const int done = mark_.write(container_, data_name_.view());
    if (done == 0) return fd;
    calls.close(fd);
    calls.remove_at(AT_FDCWD, path, false);
    return done;
}

/// For who looks at the node's disk alone. Without it, what no container needs any more stays there.
void writer::say_whose_it_is() {
    file_calls& calls = container_.calls();
    short_name name("/");
    name.add(origin_name);
    char path[staged_path_room];
    const size_t length = std::strlen(mark_.folder());
    std::memcpy(path, mark_.folder(), length);
    std::memcpy(path + length, name.c_str(), name.view().size() + 1);
    const int fd = calls.open_at(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
    if (fd < 0) return;
    const std::string_view whose = container_.path();
    struct stat above {};
    short_name inode("\n");
    if (calls.status_at(container_.directory(), "..", above) == 0) inode.add(uint64_t{above.st_ino}).add("\n");
    const std::span first(whose.data(), whose.size());
    const std::span second(inode.c_str(), inode.view().size());
    if (write_whole(calls, fd, std::as_bytes(first), 0) == 0)
        static_cast<void>(write_whole(calls, fd, std::as_bytes(second), static_cast<int64_t>(whose.size())));
    calls.close(fd);
}

void writer::remove_data() {
    if (is_staged_)
        brought_data::discard(container_, data_name_.view(), mark_);
    else
        container_.calls().remove_at(container_.directory(), data_name_.c_str(), false);
}

/// Grows from call to call, also when the clock is set back, and lies behind the epoch.
int64_t writer::next_time() {
    ++last_ns_;
    if (has_clock_) last_ns_ = std::max(realtime_ns(), last_ns_);
    return last_ns_;
}

result<int64_t> writer::write(int64_t offset, std::span<const std::byte> bytes) {
    const iovec whole{const_cast<std::byte*>(bytes.data()), bytes.size()};
    return write(offset, &whole, 1);
}

result<int64_t> writer::write(int64_t offset, const iovec* parts, int count) {
    int64_t bytes = 0;
    for (int i = 0; i < count; ++i) {
        if (__builtin_add_overflow(bytes, parts[i].iov_len, &bytes))
            return nonsense("a write of more bytes than a file can hold", EINVAL);
    }
    if (bytes == 0 && offset >= 0) return int64_t{0};
    if (auto room = make_room(offset, bytes); !room) return room.why();
    int why = 0;
    const int64_t written = write_data(parts, count, bytes, why);
    if (written == 0) return data_failed("cannot write", why);
    if (auto noted = note_write(offset, written); !noted) return noted.why();
    // The write is there by now. An index that could not take the sum takes it later, or nothing more: the next call
    // says so.
    if (has_data_checks_) static_cast<void>(note_checks(parts, count, written));
    return written;
}

result<int64_t> writer::copy_in(int64_t offset, int64_t bytes, int from, int64_t* from_offset) {
    if (has_data_checks_ || bytes <= 0) return int64_t{0};
    if (auto room = make_room(offset, bytes); !room) return room.why();
    int64_t end = data_bytes_;
    const int64_t copied = container_.calls().copy(from, from_offset, data_fd_, &end, bytes);
    if (copied <= 0) return int64_t{0};
    if (auto noted = note_write(offset, copied); !noted) return noted.why();
    return copied;
}

/// For one more write.
result<void> writer::make_room(int64_t offset, int64_t bytes) {
    int64_t end = 0;
    if (offset < 0) return nonsense("a write before the beginning of the file", EINVAL);
    if (__builtin_add_overflow(offset, bytes, &end)) return nonsense("a write beyond the largest file", EFBIG);
    if (!is_open()) return nonsense("the writer is closed", EBADF);
    if (const int room = index_.make_room(); room != 0) return index_failed("cannot grow", room);
    if (const int room = make_data_room(bytes); room != 0) return data_failed("cannot grow", room);
    return {};
}

/// Whose data are there.
result<void> writer::note_write(int64_t offset, int64_t written) {
    if (container_.calls().watches_steps()) [[unlikely]]
        container_.calls().passed("data");
    if (const int done = index_.add_write(offset, written, data_bytes_, next_time()); done != 0)
        return index_failed("cannot add a write", done);
    data_bytes_ += written;
    has_unsynced_data_ = true;
    return {};
}

/// What follows is this writer's alone. A piece for each write that does not fit into the last one: small ones share
/// it.
int writer::make_data_room(int64_t bytes) {
    if (!is_shared_ || bytes <= own_data_bytes_ - data_bytes_) [[likely]]
        return 0;
    // Large enough that few have to be taken.
    constexpr int64_t usual = 4 * node_data::piece_bytes;
    constexpr int64_t piece = node_data::piece_bytes;
    const int64_t wanted = bytes > usual ? bytes + (piece - bytes % piece) % piece : usual;
    const int64_t begin = node_data::take(container_.calls(), data_fd_, wanted);
    if (begin < 0) return static_cast<int>(begin);
    // Right behind the last one there is no gap.
    if (begin != own_data_bytes_) data_bytes_ = begin;
    own_data_bytes_ = begin + wanted;
    return 0;
}

/// Bytes written behind those before; fewer than all: `why` says the reason. What a failure left behind them will be
/// written over.
int64_t writer::write_data(const iovec* parts, int count, int64_t bytes, int& why) {
    file_calls& calls = container_.calls();
    int64_t written = count <= 1024 ? calls.write_at(data_fd_, parts, count, data_bytes_) : 0;
    if (written == bytes) [[likely]]
        return written;
    if (written < 0) {
        why = static_cast<int>(written);
        return 0;
    }
    int64_t before = 0;  // of the part
    for (int i = 0; i < count; before += static_cast<int64_t>(parts[i].iov_len), ++i) {
        const int64_t end = before + static_cast<int64_t>(parts[i].iov_len);
        while (written < end) {
            const iovec rest{static_cast<std::byte*>(parts[i].iov_base) + (written - before),
                             static_cast<size_t>(end - written)};
            const int64_t more = calls.write_at(data_fd_, &rest, 1, data_bytes_ + written);
            if (more <= 0) {
                why = more < 0 ? static_cast<int>(more) : -ENOSPC;
                return written;
            }
            written += more;
        }
    }
    return written;
}

int writer::note_checks(const iovec* parts, int count, int64_t bytes) {
    for (int i = 0; i < count && bytes > 0; ++i) {
        const int64_t taken = std::min(bytes, static_cast<int64_t>(parts[i].iov_len));
        checker_.add({static_cast<const std::byte*>(parts[i].iov_base), static_cast<size_t>(taken)});
        bytes -= taken;
    }
    return checker_.is_full() ? flush_check() : 0;
}

int writer::flush_check() {
    if (checker_.bytes() == 0) return 0;
    const int done = index_.add_check(checker_.bytes(), checker_.sum());
    // Else it is added later, over all that follows, too.
    if (done == 0) checker_.begin_next();
    return done;
}

result<void> writer::add(record_kind kind, int64_t start, int64_t length) {
    if (!is_open()) return nonsense("the writer is closed", EBADF);
    if (const int room = index_.make_room(); room != 0) return index_failed("cannot grow", room);
    record what;
    what.kind = kind;
    what.what.count = 1;
    what.what.start = start;
    what.what.length = length;
    what.what.first_ns = what.what.last_ns = next_time();
    if (const int done = index_.add(what); done != 0) return index_failed("cannot add a change of the file", done);
    return {};
}

result<void> writer::truncate(int64_t bytes) {
    if (bytes < 0) return nonsense("a size below 0", EINVAL);
    return add(record_kind::cut, bytes, 0);
}

result<void> writer::reach(int64_t bytes) {
    if (bytes < 0) return nonsense("a size below 0", EINVAL);
    return add(record_kind::reach, bytes, 0);
}

result<void> writer::erase(int64_t offset, int64_t bytes) {
    if (offset < 0 || bytes <= 0 || bytes > INT64_MAX - offset) return nonsense("no range of a file", EINVAL);
    return add(record_kind::hole, offset, bytes);
}

void writer::follow(int64_t time_ns) {
    last_ns_ = std::max(last_ns_, std::min(time_ns, furthest_ns));
}

int64_t writer::propose_epoch() {
    return next_time();
}

result<void> writer::expect_epoch(const container& in, int64_t time_ns) {
    if (time_ns > 0 && time_ns <= furthest_ns) return {};
    return failure{error_kind::usage, std::string(in.path()) + ": an epoch before 1970 or after 2115", EINVAL};
}

result<void> writer::raise_epoch(int64_t time_ns) {
    if (auto sound = expect_epoch(container_, time_ns); !sound) return sound;
    if (!is_open()) return nonsense("the writer is closed", EBADF);
    last_ns_ = std::max(last_ns_, time_ns);
    if (index_.ends_at(epoch_end_)) return {};
    if (const int room = index_.make_room(); room != 0) return index_failed("cannot grow", room);
    record what;
    what.kind = record_kind::epoch;
    what.what.count = 1;
    what.what.first_ns = what.what.last_ns = time_ns;
    if (const int done = index_.add(what); done != 0) return index_failed("cannot raise the epoch", done);
    epoch_end_ = index_.state().end;
    return {};
}

result<void> writer::settle() {
    if (!is_open()) return nonsense("the writer is closed", EBADF);
    if (const int room = index_.make_room(); room != 0) return index_failed("cannot grow", room);
    if (const int done = index_.finish_runs(); done != 0) return index_failed("cannot end a pattern", done);
    return {};
}

/// Data before the index that names them.
result<void> writer::sync() {
    if (!is_open()) return nonsense("the writer is closed", EBADF);
    // What the device refused once may be lost, even if it takes all that follows.
    if (sync_failed_ != 0) return data_failed("an earlier sync failed", sync_failed_);
    if (!index_.has_uncommitted()) return {};
    if (const int room = index_.make_room(); room != 0) return index_failed("cannot grow", room);
    if (const int done = flush_check(); done != 0) return index_failed("cannot add a check sum", done);
    if (has_unsynced_data_) {
        const int done = sync_data();
        // What lies on the node is copied again, whatever became of the copy.
        if (!is_staged_) sync_failed_ = done;
        if (done != 0) return data_failed("cannot sync", done);
        has_unsynced_data_ = false;
    }
    if (has_unsynced_names_) {
        if (const int done = container_.sync(host_directory_); done != 0) {
            // That this process could open nothing says nothing of the device.
            if (done != -EMFILE && done != -ENFILE && done != -ENOMEM) sync_failed_ = done;
            return index_failed("cannot sync the directories of", done);
        }
        // What a node shares is named by other indexes, too, and what is staged gets its name later.
        if (!is_shared_ && !is_staged_) container_.note_index_named(data_name_.c_str());
        has_unsynced_names_ = false;
    }
    const int done = index_.commit(realtime_ns());
    if (!index_.has_taken_back()) sync_failed_ = done;
    return done == 0 ? result<void>() : index_failed("cannot sync", done);
}

/// Durable is what is in the container.
int writer::sync_data() {
    if (!is_staged_) return container_.calls().sync(data_fd_);
    if (const int done = brought_.open(data_name_.view()); done != 0) return done;
    if (const int done = brought_.copy(data_fd_, brought_bytes_, data_bytes_); done != 0) return done;
    if (const int done = brought_.sync(); done != 0) return done;
    brought_bytes_ = data_bytes_;
    return 0;
}

result<void> writer::rest() {
    if (!is_open()) return nonsense("the writer is closed", EBADF);
    const int done = index_.rest();
    return done == 0 ? result<void>() : index_failed("cannot say that it rests", done);
}

bool writer::may_rest() const {
    constexpr int64_t few_bytes = int64_t{4} << 20;
    const bool owes_something = is_staged_ || is_shared_ || has_data_checks_ || sync_failed_ != 0;
    return !owes_something && !index_.is_empty() && data_bytes_ <= few_bytes;
}

result<void> writer::close() {
    if (!is_open()) return nonsense("the writer is closed", EBADF);
    file_calls& calls = container_.calls();
    const bool is_empty = index_.is_empty();
    const bool is_brought = is_staged_ && !is_empty && sync_failed_ == 0 && !index_.has_uncommitted();
    brought_.close();
    // The data first, as in all else: for some file systems that is when others are sent them (NFS).
    const int data_done = calls.close(std::exchange(data_fd_, -1));
    int index_done = is_empty || index_.make_room() != 0 ? 0 : flush_check();
    if (is_empty)
        index_.abandon();
    else if (const int closed = index_.close(); index_done == 0)
        index_done = closed;
    if (is_empty) {
        // Data without an index would be damage, but for an empty file.
        if (is_shared_) remove_data();
        calls.remove_at(container_.directory(), index_name_.c_str(), false);
        if (!is_shared_) remove_data();
    }
    // All of it is there already. What fails here is left to the agent.
    if (is_brought && index_done == 0) static_cast<void>(brought_data::finish(container_, data_name_.view(), mark_));
    if (data_done != 0) return data_failed("cannot close", data_done);
    if (index_done != 0) return index_failed("cannot close", index_done);
    return {};
}

void writer::abandon() {
    index_.abandon();
    brought_.close();
    if (data_fd_ >= 0) container_.calls().close(std::exchange(data_fd_, -1));
}

failure writer::index_failed(std::string_view what, int why) const {
    return container_.failed(index_name_.view(), what, -why);
}

failure writer::data_failed(std::string_view what, int why) const {
    return container_.failed(data_name_.view(), what, -why);
}

failure writer::nonsense(std::string_view what, int why) const {
    return {error_kind::usage, std::string(container_.path()) + ": " + std::string(what), why};
}

}  // namespace halcyon::logfs
