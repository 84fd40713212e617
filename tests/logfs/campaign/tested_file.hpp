#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/log_file.hpp"

namespace halcyon::logfs::campaign {

/// A file that the processes of a campaign work on. Calls return what system calls do: -errno where they fail.
class tested_file {
  public:
    tested_file() = default;
    tested_file(const tested_file&) = delete;
    tested_file& operator=(const tested_file&) = delete;
    virtual ~tested_file() = default;

    virtual int open(bool may_write, bool creates) = 0;
    virtual int close() = 0;
    /// How many bytes: fewer only at the end of the file.
    virtual int64_t read(int64_t offset, std::span<std::byte> out) = 0;
    virtual int64_t write(int64_t offset, const iovec* pieces, int count) = 0;
    virtual int64_t append(std::span<const std::byte> data, int64_t& offset) = 0;
    virtual int erase(int64_t offset, int64_t length) = 0;
    virtual int truncate(int64_t size) = 0;
    virtual int reach(int64_t size) = 0;
    virtual int64_t size() = 0;
    virtual int sync() = 0;
    /// What is written here is older than what others write from now on.
    virtual int publish() = 0;
    virtual int refresh() = 0;
    /// Who gets it sees all that others did with it.
    virtual int lock() = 0;
    virtual int unlock() = 0;

    /// Of the last failure, where it is known.
    [[nodiscard]] const std::string& why() const { return why_; }

  protected:
    std::string why_;
};

/// By the container's own interface; the lock is a file beside it.
class container_file final : public tested_file {
  public:
    container_file(std::string path, const writer_options& writing, bool verifies, file_calls& calls = kernel_files());
    ~container_file() override;

    int open(bool may_write, bool creates) override;
    int close() override;
    int64_t read(int64_t offset, std::span<std::byte> out) override;
    int64_t write(int64_t offset, const iovec* pieces, int count) override;
    int64_t append(std::span<const std::byte> data, int64_t& offset) override;
    int erase(int64_t offset, int64_t length) override;
    int truncate(int64_t size) override;
    int reach(int64_t size) override;
    int64_t size() override;
    int sync() override;
    int publish() override;
    int refresh() override;
    int lock() override;
    int unlock() override;

  private:
    int outcome(const result<void>& of);
    int failed(const failure& why);

    std::string path_;
    opening how_;
    log_file file_;
    int lock_ = -1;
};

/// By the calls of a program, whoever answers them.
class descriptor_file final : public tested_file {
  public:
    /// `locks_ranges`: by fcntl, else by flock.
    descriptor_file(std::string path, bool locks_ranges) : path_(std::move(path)), locks_ranges_(locks_ranges) {}
    ~descriptor_file() override { static_cast<void>(close()); }

    int open(bool may_write, bool creates) override;
    int close() override;
    int64_t read(int64_t offset, std::span<std::byte> out) override;
    int64_t write(int64_t offset, const iovec* pieces, int count) override;
    int64_t append(std::span<const std::byte> data, int64_t& offset) override;
    int erase(int64_t offset, int64_t length) override;
    int truncate(int64_t size) override;
    int reach(int64_t size) override;
    int64_t size() override;
    int sync() override;
    int publish() override { return sync(); }
    int refresh() override { return size() < 0 ? -1 : 0; }
    int lock() override { return set_lock(true); }
    int unlock() override { return set_lock(false); }

  private:
    int set_lock(bool takes) const;

    std::string path_;
    bool locks_ranges_;
    bool may_write_ = false;
    int fd_ = -1;
    int appending_ = -1;
};

}  // namespace halcyon::logfs::campaign
