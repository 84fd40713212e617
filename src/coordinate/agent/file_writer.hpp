#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace halcyon::coordinate {

/// Writes whole files (replace_file) on a thread: they may be on a file system that takes its time, and whoever wants
/// them there must not wait. Of texts for one file the latest counts; files are written in the order of their latest
/// texts. What cannot be written is kept, and tried again with the next text or try_again(): less and less often while
/// nothing at all can be written.
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
    /// False: `most_kept` files wait already, this one is not among them, and it is left out.
    [[nodiscard]] bool write_if_room(std::string path, std::string text);
    /// Tries again what could not be written, if there is any. While all of it fails, only every second time, every
    /// fourth and so on counts, up to each `longest_pause`.
    void try_again();
    /// Times that the system had no thread: then nothing is written before try_again().
    [[nodiscard]] uint64_t threads_missing() const { return threads_missing_; }

    /// Rounds of writing so far; whether one goes on.
    [[nodiscard]] uint64_t tries();
    [[nodiscard]] bool is_writing();

    static constexpr size_t most_kept = 1024;
    static constexpr uint32_t longest_pause = 32;  ///< calls of try_again()

  private:
    struct file {
        std::string path, text;
    };
    void add(file what);
    void start();
    void run();
    void put_back(std::vector<file> failed);

    std::thread thread_;
    uint64_t threads_missing_ = 0;
    std::mutex mutex_;
    std::vector<file> waiting_;
    size_t being_written_ = 0;  ///< they may come back
    uint64_t tries_ = 0;
    uint32_t pause_ = 0, left_out_ = 0;  ///< calls of try_again(): between two tries, and since the last one
    bool runs_ = false, looks_again_ = false;
};

}  // namespace halcyon::coordinate
