#pragma once

#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs {

/// `makes`, each call of which on a file is shown to the layers of this process (report_below), as one of level log.
/// Memory is nobody's file, and neither is what is stored through a mapping a call.
class reported_files final : public file_calls {
  public:
    explicit reported_files(file_calls& makes) : makes_(makes) {}

    int open_at(int directory, const char* name, int flags, mode_t mode) override;
    int close(int fd) override;
    int64_t read_at(int fd, const iovec* parts, int count, int64_t offset) override;
    int64_t write_at(int fd, const iovec* parts, int count, int64_t offset) override;
    int set_size(int fd, int64_t bytes) override;
    int reserve(int fd, int64_t offset, int64_t bytes) override;
    int punch(int fd, int64_t offset, int64_t bytes) override;
    int sync(int fd) override;
    int sync_names(int directory) override;
    int lock(int fd, bool exclusive) override;
    int unlock(int fd) override;
    int lock_part(int fd, int64_t offset, int64_t bytes, bool exclusive, bool waits) override;
    int unlock_part(int fd, int64_t offset, int64_t bytes) override;
    int lock_alone(int fd) override;
    int advise_soon(int fd, int64_t offset, int64_t bytes) override;

    int status(int fd, struct stat& out) override;
    int status_at(int directory, const char* name, struct stat& out) override;
    int refresh(int fd) override;
    int status_now_at(int directory, const char* name, struct stat& out) override;
    int set_mode(int fd, mode_t mode) override;
    int set_owner(int fd, uid_t user, gid_t group) override;
    int make_directory_at(int directory, const char* name, mode_t mode) override;
    int set_mode_at(int directory, const char* name, mode_t mode) override;
    int set_owner_at(int directory, const char* name, uid_t user, gid_t group) override;
    int set_times_at(int directory, const char* name, const timespec times[2]) override;
    int rename_at(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) override;
    int remove_at(int directory, const char* name, bool is_directory) override;
    int make_link_at(const char* target, int directory, const char* name) override;
    int make_hard_link_at(int directory, const char* from, const char* to) override;
    int64_t read_link_at(int directory, const char* name, char* out, size_t room) override;
    int64_t list(int directory, void* out, size_t bytes) override;

    int64_t file_system(int fd) override;
    int64_t free_bytes(int fd) override;
    void* map(int fd, int64_t offset, size_t bytes, int& error) override;
    void* map_pages(int fd, int64_t offset, size_t bytes) override;
    void unmap(void* at, size_t bytes) override { makes_.unmap(at, bytes); }

    void* take_pages(size_t bytes) override { return makes_.take_pages(bytes); }
    void* resize_pages(void* at, size_t bytes, size_t wanted) override {
        return makes_.resize_pages(at, bytes, wanted);
    }
    void return_pages(void* at, size_t bytes) override { makes_.return_pages(at, bytes); }

    void pause(int64_t ns) override { makes_.pause(ns); }

  private:
    file_calls& makes_;
};

}  // namespace halcyon::logfs
