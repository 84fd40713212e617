#include "logfs/container/log_file.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "logfs/container/format/dropping_name.hpp"

namespace halcyon::logfs {

class log_file::guard {
  public:
    explicit guard(log_file& of) : lock_(of.lock_) { lock_.lock(); }
    ~guard() { lock_.unlock(); }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

  private:
    short_lock& lock_;
};

log_file::~log_file() {
    if (container_.is_open()) static_cast<void>(close());
}

result<void> log_file::open(std::string_view path, const writer_identity& who, const opening& how) {
    if (container_.is_open())
        return failure{error_kind::usage, std::string(path) + ": another file is open here", EBUSY};
    who_ = who;
    how_ = how;
    has_new_writes_ = false;
    const bool must_be_new = how.creates && how.is_exclusive;
    result<void> opened = must_be_new ? result<void>() : container_.open(path);
    bool is_new = false;
    if (must_be_new || (how.creates && !opened && opened.why().system_errno == ENOENT)) {
        opened = container_.create(path, how.mode, how.host_directories);
        is_new = opened.ok();
        // Another process may have been quicker.
        if (!is_new && opened.why().system_errno == EEXIST && !must_be_new) opened = container_.open(path);
    }
    if (!opened) return opened;
    reader_options reading = how.reading;
    reading.host = {who_.host, strnlen(who_.host, sizeof who_.host)};
    reading.boot_id = {who_.boot_id, strnlen(who_.boot_id, sizeof who_.boot_id)};
    reader_.emplace(container_, reading);
    result<void> done = is_new ? result<void>() : reader_->reload();
    if (done.ok() && how.truncates && how.may_write && !is_new && reader_->size() > 0) done = truncate(0);
    if (!done) {
        abandon();
        return done;
    }
    return {};
}

result<void> log_file::begin_writing() {
    if (!how_.may_write)
        return failure{error_kind::usage, std::string(container_.path()) + ": opened for reading only", EBADF};
    if (writer_) return {};
    writer_.emplace(container_);
    auto opened = writer_->open(who_, how_.writing);
    if (!opened) writer_.reset();
    return opened;
}

/// What was written here since it was looked at last.
result<void> log_file::take_own() {
    if (!has_new_writes_) return {};
    auto taken = reader_->reload_writer(writer_->name());
    if (taken.ok()) has_new_writes_ = false;
    return taken;
}

result<int64_t> log_file::read(int64_t offset, std::span<std::byte> out) {
    const guard alone(*this);
    if (!how_.may_read)
        return failure{error_kind::usage, std::string(container_.path()) + ": opened for writing only", EBADF};
    if (auto taken = take_own(); !taken) return taken.why();
    return reader_->read(offset, out);
}

result<int64_t> log_file::write(int64_t offset, std::span<const std::byte> bytes) {
    const guard alone(*this);
    if (auto begun = begin_writing(); !begun) return begun.why();
    has_new_writes_ = true;
    return writer_->write(offset, bytes);
}

result<log_file::appended> log_file::append(std::span<const std::byte> bytes) {
    const guard alone(*this);
    if (auto begun = begin_writing(); !begun) return begun.why();
    file_calls& calls = container_.calls();
    if (append_lock_ < 0)
        append_lock_ = calls.open_at(container_.directory(), append_lock_name.data(), O_RDWR | O_CREAT, 0666);
    if (append_lock_ < 0) return container_.failed(append_lock_name, "cannot open", -std::exchange(append_lock_, -1));
    if (const int locked = calls.lock(append_lock_, true); locked != 0)
        return container_.failed(append_lock_name, "cannot lock", -locked);
    result<void> fresh = reader_->reload();
    if (fresh.ok()) fresh = take_own();
    const int64_t end = fresh.ok() ? reader_->size() : 0;
    result<int64_t> written = fresh.ok() ? writer_->write(end, bytes) : result<int64_t>(fresh.why());
    has_new_writes_ = true;
    calls.unlock(append_lock_);
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
    return change([&](writer& to) { return to.truncate(bytes); });
}

result<void> log_file::reach(int64_t bytes) {
    return change([&](writer& to) { return to.reach(bytes); });
}

result<void> log_file::erase(int64_t offset, int64_t bytes) {
    return change([&](writer& to) { return to.erase(offset, bytes); });
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

result<void> log_file::refresh() {
    const guard alone(*this);
    auto taken = reader_->reload();
    if (taken.ok()) taken = take_own();
    return taken;
}

result<void> log_file::sync() {
    const guard alone(*this);
    return writer_ ? writer_->sync() : result<void>();
}

result<void> log_file::close() {
    const guard alone(*this);
    result<void> closed = writer_ ? writer_->close() : result<void>();
    writer_.reset();
    reader_.reset();
    if (append_lock_ >= 0) container_.calls().close(std::exchange(append_lock_, -1));
    container_.close();
    return closed;
}

void log_file::abandon() {
    if (writer_) writer_->abandon();
    writer_.reset();
    reader_.reset();
    if (append_lock_ >= 0) container_.calls().close(std::exchange(append_lock_, -1));
    container_.close();
}

}  // namespace halcyon::logfs
