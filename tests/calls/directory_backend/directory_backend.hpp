#pragma once

#include <string>

#include "calls/backends/file_backend.hpp"

namespace halcyon::calls {

/// Files of the kernel below a directory, by a system call each: what a backend should do is what this one does. Layers
/// are shown its opens, transfers and syncs. For tests only: it allocates. Handles, and keys, are descriptors.
class directory_backend : public file_backend {
  public:
    explicit directory_backend(const std::string& directory);
    ~directory_backend();
    directory_backend(const directory_backend&) = delete;
    directory_backend& operator=(const directory_backend&) = delete;

    [[nodiscard]] const char* name() const override { return "directory"; }

    int open(const char* path, int flags, unsigned mode, handle& opened) override;
    int adopt(uint64_t key, handle& opened) override;
    [[nodiscard]] uint64_t key_of(handle opened) override { return opened; }
    void close(handle opened) override;
    ssize_t path_of(handle opened, char* out, size_t room) override;

    ssize_t read(handle opened, const iovec* pieces, int count, int64_t offset) override;
    ssize_t write(handle opened, const iovec* pieces, int count, int64_t offset) override;
    ssize_t append(handle opened, const iovec* pieces, int count, int64_t& offset) override;

    int stat(handle opened, struct stat& out) override;
    int resize(handle opened, int64_t bytes) override;
    int reserve(handle opened, int mode, int64_t offset, int64_t bytes) override;
    int sync(handle opened, bool data_only) override;
    int lock(handle opened, int command, struct flock& range) override;
    int lock_whole(handle opened, int fd, int operation) override;
    int64_t map(handle opened, void* at, size_t bytes, int protection, int flags, int64_t offset) override;

    int stat_path(const char* path, bool follow, struct stat& out) override;
    int unlink(const char* path) override;
    int rename(const char* from, const char* to, unsigned flags) override;
    int make_directory(const char* path, unsigned mode) override;
    int remove_directory(const char* path) override;
    int link(const char* from, const char* to) override;
    int make_symbolic_link(const char* target, const char* path) override;
    ssize_t read_link(const char* path, char* out, size_t room) override;
    int set_mode(const char* path, unsigned mode) override;
    int set_mode(handle opened, unsigned mode) override;
    int set_owner(const char* path, bool follow, uid_t user, gid_t group) override;
    int set_owner(handle opened, uid_t user, gid_t group) override;
    int set_times(const char* path, bool follow, const timespec times[2]) override;
    int set_times(handle opened, const timespec times[2]) override;
    int stat_system(struct statfs& out) override;

    int next_entry(handle directory, uint64_t& after, entry& out) override;

  private:
    std::string directory_;
    int root_;
};

}  // namespace halcyon::calls
