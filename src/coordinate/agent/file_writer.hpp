#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace halcyon::coordinate {

/// Writes whole files (replace_file) on a thread: they may be on a file system that takes its time, and whoever wants
/// them there must not wait. Of texts for one file the latest counts; files are written in the order of their latest
/// texts.
///
/// Threads: one writes, while there is something to write. Under the mutex: what is to be written, and whether that
/// thread will look again.
class file_writer {
  public:
    file_writer() = default;
    /// Waits until all is written, or cannot be.
    ~file_writer();
    file_writer(const file_writer&) = delete;
    file_writer& operator=(const file_writer&) = delete;

    void write(std::string path, std::string text);
    /// Tries again what could not be written, if there is any.
    void try_again();
    /// Times that the system had no thread: then nothing is written before try_again().
    [[nodiscard]] uint64_t threads_missing() const { return threads_missing_; }

  private:
    struct file {
        std::string path, text;
    };
    void start();
    void run();
    void put_back(std::vector<file> failed);

    std::thread thread_;
    uint64_t threads_missing_ = 0;
    std::mutex mutex_;
    std::vector<file> waiting_;
    bool runs_ = false, looks_again_ = false;
};

}  // namespace halcyon::coordinate
