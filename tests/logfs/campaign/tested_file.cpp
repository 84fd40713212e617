#include "tested_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "logfs/container/writing/writer_identity.hpp"

namespace halcyon::logfs::campaign {
namespace {

constexpr mode_t mode = 0644;

template <class Result>
Result or_errno(Result done) {
    return done < 0 ? static_cast<Result>(-errno) : done;
}

}  // namespace

container_file::container_file(std::string path, const writer_options& writing, bool verifies, file_calls& calls)
    : path_(std::move(path)), file_(calls) {
    how_.mode = mode;
    how_.writing = writing;
    how_.reading.verifies_data = verifies;
}

container_file::~container_file() {
    if (lock_ >= 0) ::close(lock_);
}

int container_file::failed(const failure& why) {
    why_ = why.message;
    return why.system_errno > 0 ? -why.system_errno : -EIO;
}

int container_file::outcome(const result<void>& of) {
    return of.ok() ? 0 : failed(of.why());
}

int container_file::open(bool may_write, bool creates) {
    how_.may_write = may_write;
    how_.creates = creates;
    if (lock_ < 0) lock_ = or_errno(::open((path_ + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, mode));
    if (lock_ < 0) return lock_;
    return outcome(file_.open(path_, writer_identity::of_this_process(), how_));
}

int container_file::close() {
    return outcome(file_.close());
}

int64_t container_file::read(int64_t offset, std::span<std::byte> out) {
    const auto done = file_.read(offset, out);
    return done ? *done : failed(done.why());
}

int64_t container_file::write(int64_t offset, const iovec* pieces, int count) {
    const auto done = file_.write(offset, pieces, count);
    return done ? *done : failed(done.why());
}

int64_t container_file::append(std::span<const std::byte> data, int64_t& offset) {
    const auto done = file_.append(data);
    if (!done) return failed(done.why());
    offset = done->offset;
    return done->bytes;
}

int container_file::erase(int64_t offset, int64_t length) {
    return outcome(file_.erase(offset, length));
}

int container_file::truncate(int64_t size) {
    return outcome(file_.truncate(size));
}

int container_file::reach(int64_t size) {
    return outcome(file_.reach(size));
}

int64_t container_file::size() {
    const auto done = file_.size();
    return done ? *done : failed(done.why());
}

int container_file::sync() {
    return outcome(file_.sync());
}

int container_file::publish() {
    return outcome(file_.settle());
}

int container_file::refresh() {
    return outcome(file_.refresh());
}

int container_file::lock() {
    if (const int done = or_errno(::flock(lock_, LOCK_EX)); done < 0) return done;
    return refresh();
}

int container_file::unlock() {
    if (const int done = publish(); done < 0) return done;
    return or_errno(::flock(lock_, LOCK_UN));
}

int descriptor_file::open(bool may_write, bool creates) {
    const int flags = (may_write ? O_RDWR : O_RDONLY) | (creates ? O_CREAT : 0) | O_CLOEXEC;
    may_write_ = may_write;
    fd_ = or_errno(::open(path_.c_str(), flags, mode));
    if (fd_ < 0 || !may_write) return std::min(fd_, 0);
    appending_ = or_errno(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    return std::min(appending_, 0);
}

int descriptor_file::close() {
    int done = 0;
    if (appending_ >= 0) done = or_errno(::close(std::exchange(appending_, -1)));
    if (fd_ >= 0) done = or_errno(::close(std::exchange(fd_, -1)));
    return done;
}

int64_t descriptor_file::read(int64_t offset, std::span<std::byte> out) {
    int64_t moved = 0;
    while (moved < static_cast<int64_t>(out.size())) {
        const std::span rest = out.subspan(static_cast<size_t>(moved));
        const int64_t done = or_errno(::pread(fd_, rest.data(), rest.size(), offset + moved));
        if (done < 0) return done;
        if (done == 0) break;
        moved += done;
    }
    return moved;
}

int64_t descriptor_file::write(int64_t offset, const iovec* pieces, int count) {
    return or_errno(::pwritev(fd_, pieces, count, offset));
}

int64_t descriptor_file::append(std::span<const std::byte> data, int64_t& offset) {
    const int64_t done = or_errno(::write(appending_, data.data(), data.size()));
    if (done < 0) return done;
    offset = or_errno(::lseek(appending_, 0, SEEK_CUR)) - done;
    return done;
}

int descriptor_file::erase(int64_t offset, int64_t length) {
    return or_errno(::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length));
}

int descriptor_file::truncate(int64_t size) {
    return or_errno(::ftruncate(fd_, size));
}

int descriptor_file::reach(int64_t size) {
    return size == 0 ? 0 : or_errno(::fallocate(fd_, 0, 0, size));
}

int64_t descriptor_file::size() {
    struct stat state {};
    const int done = or_errno(::fstat(fd_, &state));
    return done < 0 ? done : state.st_size;
}

int descriptor_file::sync() {
    return or_errno(::fsync(fd_));
}

int descriptor_file::set_lock(bool takes) const {
    if (!locks_ranges_) return or_errno(::flock(fd_, takes ? LOCK_EX : LOCK_UN));
    struct flock all {};
    all.l_type = static_cast<short>(!takes ? F_UNLCK : may_write_ ? F_WRLCK : F_RDLCK);
    all.l_whence = SEEK_SET;
    return or_errno(::fcntl(fd_, F_SETLKW, &all));
}

}  // namespace halcyon::logfs::campaign
