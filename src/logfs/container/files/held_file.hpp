#pragma once

#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs {

/// Owns a descriptor that file_calls gave.
class held_file {
  public:
    explicit held_file(file_calls& by) : by_(by) {}
    held_file(const held_file&) = delete;
    held_file& operator=(const held_file&) = delete;
    ~held_file() { reset(); }

    [[nodiscard]] int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    void reset(int fd = -1) {
        if (fd_ >= 0) by_.close(fd_);
        fd_ = fd;
    }

  private:
    file_calls& by_;
    int fd_ = -1;
};

}  // namespace halcyon::logfs
