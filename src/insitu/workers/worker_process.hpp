#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace halcyon::insitu {

/// A worker's process, and the server's end of the socket to it. Who destroys it has ended the process; a process that
/// the system does not let go (it waits for a file system, say) is left to the end of the server.
class worker_process {
  public:
    worker_process() = default;
    worker_process(worker_process&& other) noexcept { swap(other); }
    worker_process& operator=(worker_process&& other) noexcept {
        swap(other);
        return *this;
    }
    ~worker_process();

    /// Starts `program` with this process's standard output, no other descriptor, and nothing that would make it a part
    /// of an MPI job. The thread that calls this lives as long as the worker shall: the system ends that with it.
    static result<worker_process> start(const std::string& program);

    [[nodiscard]] bool exists() const { return pid_ > 0; }
    [[nodiscard]] int socket() const { return socket_.get(); }
    /// Readable when it has ended.
    [[nodiscard]] int watch() const { return watch_.get(); }
    [[nodiscard]] pid_t pid() const { return pid_; }

    /// It has closed its end of the socket: it ends, or is ended.
    void hang_up() {
        socket_.reset();
        kill();
    }
    /// Ends it, and what it started.
    void kill() const;
    /// Of a process that has ended: "was ended by signal 11 (Segmentation fault)". It is gone then.
    std::string reap();

  private:
    void swap(worker_process& other) noexcept {
        std::swap(pid_, other.pid_);
        std::swap(socket_, other.socket_);
        std::swap(watch_, other.watch_);
    }

    pid_t pid_ = 0;
    descriptor socket_, watch_;
};

}  // namespace halcyon::insitu
