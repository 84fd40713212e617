/// Log containers for C++20: logfs.h with files that close themselves and failures as exceptions. Header only; programs
/// link libhalcyon-logfs. Every failure is a `halcyon::error`, whose kind() is one of those that the call lists;
/// as_failure().system_errno is the errno, or 0. logfs.h says of the named function when each of them comes, and how
/// long the call blocks. Beyond these, using a file that was moved from or closed is a usage error.
///
///     halcyon::logfs::file out("/scratch/checkpoint", halcyon::logfs::access::write, {.creates = true, .rank = rank});
///     out.write(rank * bytes_of_a_rank, field);   // any contiguous range
///     out.sync();
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "halcyon/error.hpp"
#include "halcyon/logfs.h"

namespace halcyon::logfs {

/// What a file is opened for.
enum class access { read, write, read_write };

/// How a file is opened; logfs.h describes what has the same name there.
struct options {
    bool creates = false;       ///< where nothing has the name
    bool is_exclusive = false;  ///< with `creates`: fails (EEXIST) where something has the name
    bool truncates = false;     ///< what is in it goes; for one process of several
    std::optional<int32_t> rank = {};
    uint64_t group = 0;
    int64_t clock_bound_ns = 0;
    bool data_checks = false;
    bool verify = false;
    uint32_t permissions = 0;
    bool node_log = false;
    std::string stage = {};
    std::string backends = {};
};

namespace detail {

inline void check(int code) {
    if (code != HALCYON_OK)
        throw error(
            failure{static_cast<error_kind>(code), halcyon_logfs_error_message(), halcyon_logfs_error_number()});
}

inline unsigned mode_of(access how, const options& wanted) {
    unsigned mode = 0;
    if (how != access::write) mode |= HALCYON_LOGFS_READ;
    if (how != access::read) mode |= HALCYON_LOGFS_WRITE;
    if (wanted.creates) mode |= HALCYON_LOGFS_CREATE;
    if (wanted.is_exclusive) mode |= HALCYON_LOGFS_EXCLUSIVE;
    if (wanted.truncates) mode |= HALCYON_LOGFS_TRUNCATE;
    return mode;
}

inline halcyon_logfs_options options_of(const options& wanted) {
    halcyon_logfs_options given{};
    given.size_bytes = sizeof given;
    given.has_rank = wanted.rank.has_value() ? 1 : 0;
    given.rank = wanted.rank.value_or(0);
    given.group = wanted.group;
    given.clock_bound_ns = wanted.clock_bound_ns;
    given.data_checks = wanted.data_checks ? 1 : 0;
    given.verify = wanted.verify ? 1 : 0;
    given.permissions = wanted.permissions;
    given.node_log = wanted.node_log ? 1 : 0;
    given.stage = wanted.stage.empty() ? nullptr : wanted.stage.c_str();
    given.backends = wanted.backends.empty() ? nullptr : wanted.backends.c_str();
    return given;
}

}  // namespace detail

/// Contiguous values whose bytes say all of them. No text in quotes, which has a zero at its end: a std::string_view.
template <class Range>
concept values = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<Range>> &&
    !(std::is_array_v<std::remove_reference_t<Range>> && std::same_as<std::ranges::range_value_t<Range>, char>);

/// A container that this process has open. Threads may share it. Moves and does not copy.
class file {
  public:
    /// Errors: config, usage, system (halcyon_logfs_open).
    file(const std::string& path, access how, const options& wanted = {}) {
        const halcyon_logfs_options given = detail::options_of(wanted);
        detail::check(halcyon_logfs_open(path.c_str(), detail::mode_of(how, wanted), &given, &handle_));
    }
    file(file&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    file& operator=(file&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    /// Closes it, and prints a failure on stderr: close() throws it. In a process that was forked off it does nothing.
    ~file() {
        if (handle_ == nullptr) return;
        const int code = halcyon_logfs_close(&handle_);
        if (code != HALCYON_OK && code != HALCYON_ERROR_USAGE)
            std::fprintf(stderr, "halcyon: %s\n", halcyon_logfs_error_message());
    }

    /// How many bytes there were; fewer than asked for at the end of the file only.
    /// Errors: config, usage, system (halcyon_logfs_pread).
    size_t read(int64_t offset, std::span<std::byte> out) const {
        uint64_t done = 0;
        detail::check(halcyon_logfs_pread(handle_, out.data(), out.size(), offset, &done));
        return static_cast<size_t>(done);
    }
    /// Likewise, into values; how many bytes.
    template <values Range>
    requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>) size_t
        read(int64_t offset, Range&& out)
    const { return read(offset, std::as_writable_bytes(std::span(std::ranges::data(out), std::ranges::size(out)))); }

    /// All of it, or it throws.
    /// Errors: config, usage, system (halcyon_logfs_pwrite).
    void write(int64_t offset, std::span<const std::byte> data) {
        detail::check(halcyon_logfs_pwrite(handle_, data.data(), data.size(), offset, nullptr));
    }
    /// Likewise, of values.
    template <values Range>
    void write(int64_t offset, const Range& data) {
        write(offset, std::as_bytes(std::span(std::ranges::data(data), std::ranges::size(data))));
    }

    /// Behind the end, whoever else appends meanwhile; where that was.
    /// Errors: config, usage, system (halcyon_logfs_append).
    int64_t append(std::span<const std::byte> data) {
        int64_t offset = 0;
        detail::check(halcyon_logfs_append(handle_, data.data(), data.size(), &offset, nullptr));
        return offset;
    }
    /// Likewise, of values.
    template <values Range>
    int64_t append(const Range& data) {
        return append(std::as_bytes(std::span(std::ranges::data(data), std::ranges::size(data))));
    }

    /// The file has so many bytes now.
    /// Errors: usage, system (halcyon_logfs_truncate).
    void truncate(int64_t bytes) { detail::check(halcyon_logfs_truncate(handle_, bytes)); }
    /// The range reads as zeros now.
    /// Errors: usage, system (halcyon_logfs_erase).
    void erase(int64_t offset, int64_t bytes) { detail::check(halcyon_logfs_erase(handle_, offset, bytes)); }
    /// In bytes.
    /// Errors: config, system (halcyon_logfs_size).
    [[nodiscard]] int64_t size() const {
        int64_t bytes = 0;
        detail::check(halcyon_logfs_size(handle_, &bytes));
        return bytes;
    }
    /// What is known of the file.
    /// Errors: config, usage, system (halcyon_logfs_status).
    [[nodiscard]] halcyon_logfs_status_t status() const {
        halcyon_logfs_status_t found{};
        found.size_bytes = sizeof found;
        detail::check(halcyon_logfs_status(handle_, &found));
        return found;
    }
    /// Takes what others have published.
    /// Errors: config, system (halcyon_logfs_refresh).
    void refresh() { detail::check(halcyon_logfs_refresh(handle_)); }
    /// Publishes what was written, without the device.
    /// Errors: system (halcyon_logfs_settle).
    void settle() { detail::check(halcyon_logfs_settle(handle_)); }
    /// What was written is on the device on return.
    /// Errors: system (halcyon_logfs_sync).
    void sync() { detail::check(halcyon_logfs_sync(handle_)); }
    /// A time for raise_epoch(), in ns since 1970.
    /// Errors: usage (halcyon_logfs_propose_epoch).
    [[nodiscard]] int64_t propose_epoch() {
        int64_t time_ns = 0;
        detail::check(halcyon_logfs_propose_epoch(handle_, &time_ns));
        return time_ns;
    }
    /// All that the group wrote before is older than all that it writes from now on.
    /// Errors: usage, system (halcyon_logfs_raise_epoch).
    void raise_epoch(int64_t time_ns) { detail::check(halcyon_logfs_raise_epoch(handle_, time_ns)); }
    /// Publishes what was written; does not sync.
    /// Errors: usage, system (halcyon_logfs_close).
    void close() { detail::check(halcyon_logfs_close(&handle_)); }
    /// For functions of logfs.h; stays this object's.
    [[nodiscard]] halcyon_logfs_handle handle() const { return handle_; }

  private:
    halcyon_logfs_handle handle_ = nullptr;
};

/// Whether a path is a container; also no where nobody can tell.
/// Errors: usage (halcyon_logfs_is_container).
inline bool is_container(const std::string& path) {
    int is = 0;
    detail::check(halcyon_logfs_is_container(path.c_str(), &is));
    return is != 0;
}

/// What is known of the file of a path, with all that is published.
/// Errors: config, usage, system (halcyon_logfs_status_of).
inline halcyon_logfs_status_t status_of(const std::string& path) {
    halcyon_logfs_status_t found{};
    found.size_bytes = sizeof found;
    detail::check(halcyon_logfs_status_of(path.c_str(), &found));
    return found;
}

/// Makes a plain file of a container. `how`: halcyon_logfs_flattening, or 0.
/// Errors: config, usage, system, unavailable (halcyon_logfs_flatten).
inline halcyon_logfs_flattened_t flatten(const std::string& path, const std::string& target, unsigned how = 0) {
    halcyon_logfs_flattened_t made{};
    made.size_bytes = sizeof made;
    detail::check(halcyon_logfs_flatten(path.c_str(), target.c_str(), how, &made));
    return made;
}

/// Removes a container with all that is in it.
/// Errors: config, usage, system (halcyon_logfs_remove).
inline void remove(const std::string& path) {
    detail::check(halcyon_logfs_remove(path.c_str()));
}

/// Gives a container another name; what has it is replaced.
/// Errors: config, usage, system (halcyon_logfs_rename).
inline void rename(const std::string& from, const std::string& to) {
    detail::check(halcyon_logfs_rename(from.c_str(), to.c_str()));
}

}  // namespace halcyon::logfs
