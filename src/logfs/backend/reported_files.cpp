#include "logfs/backend/reported_files.hpp"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>

#include <cerrno>

#include "calls/state/descriptors.hpp"
#include "logfs/backend/shown_calls.hpp"

namespace halcyon::logfs {

using calls::call_id;
using calls::none;

namespace {

int number(int64_t result) {
    return static_cast<int>(result);
}

shown::details lock_of(int64_t offset, int64_t bytes, bool exclusive) {
    return {offset, bytes, exclusive ? F_WRLCK : F_RDLCK};
}

}  // namespace

int reported_files::open_at(int directory, const char* name, int flags, mode_t mode) {
    const int fd = number(
        shown::opened(directory, name, flags, [&] { return int64_t{makes_.open_at(directory, name, flags, mode)}; }));
    // What the calls on it concern is not asked for each of them; but a container gets its name while its directory is
    // open.
    if (fd >= 0 && (flags & O_DIRECTORY) == 0 && calls::is_shown_below())
        calls::descriptors::opened(fd, flags, directory, name);
    return fd;
}
int reported_files::close(int fd) {
    return number(shown::on(call_id::log_close, fd, [&] { return int64_t{makes_.close(fd)}; }));
}
int64_t reported_files::read_at(int fd, const iovec* parts, int count, int64_t offset) {
    return shown::on(call_id::log_pread, fd, [&] { return makes_.read_at(fd, parts, count, offset); },
                     {offset, shown::bytes_of(parts, count), count});
}
int64_t reported_files::write_at(int fd, const iovec* parts, int count, int64_t offset) {
    return shown::on(call_id::log_pwrite, fd, [&] { return makes_.write_at(fd, parts, count, offset); },
                     {offset, shown::bytes_of(parts, count), count});
}
int reported_files::set_size(int fd, int64_t bytes) {
    return number(
        shown::on(call_id::log_ftruncate, fd, [&] { return int64_t{makes_.set_size(fd, bytes)}; }, {none, bytes, 0}));
}
int reported_files::reserve(int fd, int64_t offset, int64_t bytes) {
    return number(shown::on(call_id::log_fallocate, fd, [&] { return int64_t{makes_.reserve(fd, offset, bytes)}; },
                            {offset, bytes, 0}));
}
int reported_files::punch(int fd, int64_t offset, int64_t bytes) {
    constexpr int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    return number(shown::on(call_id::log_fallocate, fd, [&] { return int64_t{makes_.punch(fd, offset, bytes)}; },
                            {offset, bytes, mode}));
}
int reported_files::sync(int fd) {
    return number(shown::on(call_id::log_fdatasync, fd, [&] { return int64_t{makes_.sync(fd)}; }));
}
int reported_files::sync_names(int directory) {
    return number(shown::on(call_id::log_fsync, directory, [&] { return int64_t{makes_.sync_names(directory)}; }));
}
int reported_files::lock(int fd, bool exclusive) {
    return number(shown::on(
        call_id::log_lock, fd, [&] { return int64_t{makes_.lock(fd, exclusive)}; }, lock_of(0, 0, exclusive)));
}
int reported_files::unlock(int fd) {
    return number(shown::on(call_id::log_unlock, fd, [&] { return int64_t{makes_.unlock(fd)}; }, {0, 0, 0}));
}
int reported_files::lock_part(int fd, int64_t offset, int64_t bytes, bool exclusive, bool waits) {
    return number(shown::on(
        call_id::log_lock, fd, [&] { return int64_t{makes_.lock_part(fd, offset, bytes, exclusive, waits)}; },
        lock_of(offset, bytes, exclusive)));
}
int reported_files::unlock_part(int fd, int64_t offset, int64_t bytes) {
    return number(shown::on(call_id::log_unlock, fd, [&] { return int64_t{makes_.unlock_part(fd, offset, bytes)}; },
                            {offset, bytes, 0}));
}
int reported_files::lock_alone(int fd) {
    return number(shown::on(
        call_id::log_lock, fd, [&] { return int64_t{makes_.lock_alone(fd)}; }, lock_of(0, 0, true)));
}
int reported_files::advise_soon(int fd, int64_t offset, int64_t bytes) {
    return number(shown::on(call_id::log_fadvise, fd, [&] { return int64_t{makes_.advise_soon(fd, offset, bytes)}; },
                            {offset, bytes, POSIX_FADV_WILLNEED}));
}

int reported_files::status(int fd, struct stat& out) {
    return number(shown::on(call_id::log_fstat, fd, [&] { return int64_t{makes_.status(fd, out)}; }));
}
int reported_files::status_at(int directory, const char* name, struct stat& out) {
    return number(shown::named(call_id::log_stat, directory, name,
                               [&] { return int64_t{makes_.status_at(directory, name, out)}; }));
}
int reported_files::refresh(int fd) {
    return number(shown::on(call_id::log_fstat, fd, [&] { return int64_t{makes_.refresh(fd)}; }));
}
int reported_files::status_now_at(int directory, const char* name, struct stat& out) {
    return number(shown::named(call_id::log_stat, directory, name,
                               [&] { return int64_t{makes_.status_now_at(directory, name, out)}; }));
}
int reported_files::set_mode(int fd, mode_t mode) {
    return number(
        shown::on(call_id::log_chmod, fd, [&] { return int64_t{makes_.set_mode(fd, mode)}; }, {none, none, mode}));
}
int reported_files::set_owner(int fd, uid_t user, gid_t group) {
    return number(shown::on(call_id::log_chown, fd, [&] { return int64_t{makes_.set_owner(fd, user, group)}; }));
}
int reported_files::make_directory_at(int directory, const char* name, mode_t mode) {
    return number(shown::named(
        call_id::log_mkdir, directory, name, [&] { return int64_t{makes_.make_directory_at(directory, name, mode)}; },
        mode));
}
int reported_files::set_mode_at(int directory, const char* name, mode_t mode) {
    return number(shown::named(
        call_id::log_chmod, directory, name, [&] { return int64_t{makes_.set_mode_at(directory, name, mode)}; }, mode));
}
int reported_files::set_owner_at(int directory, const char* name, uid_t user, gid_t group) {
    return number(shown::named(call_id::log_chown, directory, name,
                               [&] { return int64_t{makes_.set_owner_at(directory, name, user, group)}; }));
}
int reported_files::set_times_at(int directory, const char* name, const timespec times[2]) {
    return number(shown::named(call_id::log_utimens, directory, name,
                               [&] { return int64_t{makes_.set_times_at(directory, name, times)}; }));
}
int reported_files::rename_at(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) {
    return number(shown::renamed(call_id::log_rename, from_directory, from, to_directory, to, [&] {
        return int64_t{makes_.rename_at(from_directory, from, to_directory, to, flags)};
    }));
}
int reported_files::remove_at(int directory, const char* name, bool is_directory) {
    return number(shown::named(call_id::log_unlink, directory, name,
                               [&] { return int64_t{makes_.remove_at(directory, name, is_directory)}; }));
}
int reported_files::make_link_at(const char* target, int directory, const char* name) {
    return number(shown::named(call_id::log_symlink, directory, name,
                               [&] { return int64_t{makes_.make_link_at(target, directory, name)}; }));
}
int reported_files::make_hard_link_at(int directory, const char* from, const char* to) {
    return number(shown::renamed(call_id::log_link, directory, from, directory, to,
                                 [&] { return int64_t{makes_.make_hard_link_at(directory, from, to)}; }));
}
int64_t reported_files::read_link_at(int directory, const char* name, char* out, size_t room) {
    return shown::named(call_id::log_readlink, directory, name,
                        [&] { return makes_.read_link_at(directory, name, out, room); });
}
int64_t reported_files::list(int directory, void* out, size_t bytes) {
    return shown::on(call_id::log_getdents, directory, [&] { return makes_.list(directory, out, bytes); },
                     {none, static_cast<int64_t>(bytes), 0});
}

int64_t reported_files::file_system(int fd) {
    return shown::on(call_id::log_statfs, fd, [&] { return makes_.file_system(fd); });
}
int64_t reported_files::free_bytes(int fd) {
    return shown::on(call_id::log_statfs, fd, [&] { return makes_.free_bytes(fd); });
}
void* reported_files::map(int fd, int64_t offset, size_t bytes, int& error) {
    void* at = nullptr;
    shown::on(call_id::log_mmap, fd,
              [&] {
                  at = makes_.map(fd, offset, bytes, error);
                  return int64_t{-error};
              },
              {offset, static_cast<int64_t>(bytes), PROT_READ | PROT_WRITE});
    return at;
}
void* reported_files::map_pages(int fd, int64_t offset, size_t bytes) {
    void* at = nullptr;
    shown::on(call_id::log_mmap, fd,
              [&] {
                  at = makes_.map_pages(fd, offset, bytes);
                  return int64_t{at == nullptr ? -ENOMEM : 0};
              },
              {offset, static_cast<int64_t>(bytes), PROT_READ});
    return at;
}

}  // namespace halcyon::logfs
