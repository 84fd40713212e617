#pragma once

#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string_view>

#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs::tests {

/// The kernel's calls, with somebody who looks on: before each, and behind it; and at each step that is no call.
class watched_files : public file_calls {
  public:
    /// `before`: 0, or -errno to fail with instead of the call. Of a rename, its flags are told as `bytes`. `behind`:
    /// the call succeeded.
    std::function<int(std::string_view call, int64_t bytes)> before = [](std::string_view, int64_t) { return 0; };
    std::function<void(std::string_view call)> behind = [](std::string_view) {};
    /// False: as a file system that writes each change to a new place.
    int64_t type = 0;  ///< of the file system; 0: as it is
    /// As a file system that has no room left.
    bool is_full = false;

    watched_files() { watches_steps_ = true; }

    int open_at(int directory, const char* name, int flags, mode_t mode) override {
        return watched("open", 0, [&] { return under_.open_at(directory, name, flags, mode); });
    }
    int close(int fd) override {
        return watched("close", 0, [&] { return under_.close(fd); });
    }
    int64_t read_at(int fd, const iovec* parts, int count, int64_t offset) override {
        return watched("read", 0, [&] { return under_.read_at(fd, parts, count, offset); });
    }
    int64_t write_at(int fd, const iovec* parts, int count, int64_t offset) override {
        int64_t bytes = 0;
        for (int i = 0; i < count; ++i) bytes += static_cast<int64_t>(parts[i].iov_len);
        return watched("write", bytes, [&] { return under_.write_at(fd, parts, count, offset); });
    }
    int64_t copy(int from, int64_t* from_offset, int to, int64_t* to_offset, int64_t bytes) override {
        return watched("copy", bytes, [&]() -> int64_t {
            const ssize_t done = ::copy_file_range(from, from_offset, to, to_offset, static_cast<size_t>(bytes), 0);
            return done < 0 ? -errno : done;
        });
    }
    int set_size(int fd, int64_t bytes) override {
        return watched("set_size", bytes, [&] { return under_.set_size(fd, bytes); });
    }
    int reserve(int fd, int64_t offset, int64_t bytes) override {
        return watched("reserve", bytes, [&] { return under_.reserve(fd, offset, bytes); });
    }
    int punch(int fd, int64_t offset, int64_t bytes) override {
        return watched("punch", bytes, [&] { return under_.punch(fd, offset, bytes); });
    }
    int sync(int fd) override {
        return watched("sync", 0, [&] { return under_.sync(fd); });
    }
    int sync_names(int directory) override {
        return watched("sync", 0, [&] { return under_.sync_names(directory); });
    }
    int lock(int fd, bool exclusive) override {
        return watched("lock", 0, [&] { return under_.lock(fd, exclusive); });
    }
    int unlock(int fd) override {
        return watched("unlock", 0, [&] { return under_.unlock(fd); });
    }
    int lock_part(int fd, int64_t offset, int64_t bytes, bool exclusive, bool waits) override {
        return watched("lock_part", bytes, [&] { return under_.lock_part(fd, offset, bytes, exclusive, waits); });
    }
    int unlock_part(int fd, int64_t offset, int64_t bytes) override {
        return watched("unlock_part", bytes, [&] { return under_.unlock_part(fd, offset, bytes); });
    }
    int lock_alone(int fd) override {
        return watched("lock", 0, [&] { return under_.lock_alone(fd); });
    }
    int advise_soon(int fd, int64_t offset, int64_t bytes) override { return under_.advise_soon(fd, offset, bytes); }
    int status(int fd, struct stat& out) override {
        return watched("status", 0, [&] { return under_.status(fd, out); });
    }
    int status_at(int directory, const char* name, struct stat& out) override {
        return watched("status", 0, [&] { return under_.status_at(directory, name, out); });
    }
    int refresh(int fd) override {
        return watched("refresh", 0, [&] { return under_.refresh(fd); });
    }
    int status_now_at(int directory, const char* name, struct stat& out) override {
        return watched("refresh", 0, [&] { return under_.status_now_at(directory, name, out); });
    }
    int set_mode(int fd, mode_t mode) override {
        return watched("set_mode", 0, [&] { return under_.set_mode(fd, mode); });
    }
    int set_owner(int fd, uid_t user, gid_t group) override {
        return watched("set_owner", 0, [&] { return under_.set_owner(fd, user, group); });
    }
    int make_directory_at(int directory, const char* name, mode_t mode) override {
        return watched("make_directory", 0, [&] { return under_.make_directory_at(directory, name, mode); });
    }
    int set_mode_at(int directory, const char* name, mode_t mode) override {
        return watched("set_mode", 0, [&] { return under_.set_mode_at(directory, name, mode); });
    }
    int set_owner_at(int directory, const char* name, uid_t user, gid_t group) override {
        return watched("set_owner", 0, [&] { return under_.set_owner_at(directory, name, user, group); });
    }
    int set_times_at(int directory, const char* name, const timespec times[2]) override {
        return watched("set_times", 0, [&] { return under_.set_times_at(directory, name, times); });
    }
    int rename_at(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) override {
        return watched("rename", flags,
                       [&] { return under_.rename_at(from_directory, from, to_directory, to, flags); });
    }
    int remove_at(int directory, const char* name, bool is_directory) override {
        return watched("remove", 0, [&] { return under_.remove_at(directory, name, is_directory); });
    }
    int make_link_at(const char* target, int directory, const char* name) override {
        return watched("link", 0, [&] { return under_.make_link_at(target, directory, name); });
    }
    int make_hard_link_at(int directory, const char* from, const char* to) override {
        return watched("link", 0, [&] { return under_.make_hard_link_at(directory, from, to); });
    }
    int64_t read_link_at(int directory, const char* name, char* out, size_t room) override {
        return watched("read_link", 0, [&] { return under_.read_link_at(directory, name, out, room); });
    }
    int64_t list(int directory, void* out, size_t bytes) override {
        return watched("list", 0, [&] { return under_.list(directory, out, bytes); });
    }
    int64_t file_system(int fd) override { return type != 0 ? type : under_.file_system(fd); }
    int64_t free_bytes(int fd) override { return is_full ? 0 : under_.free_bytes(fd); }
    void* map(int fd, int64_t offset, size_t bytes, int& error) override {
        void* mapped = nullptr;
        const int done = watched("map", 0, [&] {
            mapped = under_.map(fd, offset, bytes, error);
            return 0;
        });
        if (done != 0) error = -done;
        return mapped;
    }
    void* map_pages(int fd, int64_t offset, size_t bytes) override {
        void* mapped = nullptr;
        watched("map_pages", 0, [&] {
            mapped = under_.map_pages(fd, offset, bytes);
            return mapped == nullptr ? -1 : 0;
        });
        return mapped;
    }
    void unmap(void* at, size_t bytes) override {
        watched("unmap", 0, [&] {
            under_.unmap(at, bytes);
            return 0;
        });
    }
    void* take_pages(size_t bytes) override { return under_.take_pages(bytes); }
    void* resize_pages(void* at, size_t bytes, size_t wanted) override {
        return under_.resize_pages(at, bytes, wanted);
    }
    void return_pages(void* at, size_t bytes) override { under_.return_pages(at, bytes); }
    void pause(int64_t ns) override {
        watched("pause", ns, [&] {
            under_.pause(ns);
            return 0;
        });
    }
    void passed(const char* step) override { behind(step); }

  private:
    template <class Call>
    auto watched(std::string_view name, int64_t bytes, Call call) -> decltype(call()) {
        if (const int instead = before(name, bytes); instead != 0) return instead;
        const auto done = call();
        if (done >= 0) behind(name);
        return done;
    }

    file_calls& under_ = kernel_files();
};

}  // namespace halcyon::logfs::tests
