#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "observe/trace/trace_format.hpp"

namespace halcyon::observe::trace {

/// Where a process appends the sections of its trace: from any thread, without locks and allocation, by direct system
/// calls on a descriptor of its own, far above those that applications count on. What is written is the kernel's: a
/// killed process loses none of it.
///
/// The first write that fails (full disk, quota) ends the recording: `failed()` from then on; the application's calls
/// are not concerned.
class trace_file {
  public:
    static constexpr size_t longest_path = 3072;

    /// Creates `<directory>/<name>.begun`. False when it cannot; `error()` says why (errno).
    bool create(std::string_view directory, std::string_view name);

    /// Gives it its name, `<name>.trace`, when all is in it that readers count on: of a process that is killed before,
    /// no trace is left that nobody can read. False when it cannot.
    bool publish();

    /// Moves what was written to `<directory>/<name>.trace`, on another file system, and goes on there. False when it
    /// cannot: then it stays where it is.
    bool move_to(std::string_view directory, std::string_view name);

    /// Appends a section made of up to three parts.
    bool append(section_kind kind, std::string_view first, std::string_view second = {}, std::string_view third = {});

    /// Ends the recording with this error, unless there is one.
    void give_up(int error) {
        int none = 0;
        error_.compare_exchange_strong(none, error);
    }
    /// Forgets what a parent had, in its forked child.
    void abandon();
    /// For a recording that cannot begin: no file may stay that looks like a trace and has no process.
    void remove();

    [[nodiscard]] bool failed() const { return error_.load(std::memory_order_relaxed) != 0; }
    [[nodiscard]] int error() const { return error_.load(std::memory_order_relaxed); }
    [[nodiscard]] const char* path() const { return path_; }

  private:
    bool open_new(std::string_view directory, std::string_view name);
    int descriptor();
    bool write_at(std::string_view bytes, int64_t offset);
    template <size_t room>
    bool append_copied(section_kind kind, const std::array<std::string_view, 3>& parts, size_t payload);
    bool append_at(int64_t at, std::string_view header, std::string_view payload);

    char path_[longest_path] = {};
    std::atomic<int> fd_{-1};
    uint64_t device_ = 0;
    uint64_t inode_ = 0;
    std::atomic<int64_t> end_{0};
    std::atomic<int> error_{0};
};

/// `<directory>/<name><suffix>`, ended by 0; false when it is too long.
bool join_path(char (&out)[trace_file::longest_path], std::string_view directory, std::string_view name,
               std::string_view suffix);

template <class Value>
std::string_view bytes_of(const Value& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace halcyon::observe::trace
