#include "calls/clocks/clock_meeting.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "base/clock.hpp"
#include "base/shared_layout.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/folder_entries.hpp"

namespace halcyon::calls {
namespace {

constexpr std::string_view first = "first";
constexpr std::string_view go = "go";
constexpr std::string_view no = "no";
constexpr std::string_view announcements = "at.";  // begin so

/// What the file of an announced process holds. It writes its two ranks, rank 0 the answer.
struct announcement {
    int32_t rank;
    int32_t ranks;
    int32_t answer;
};
static_assert(has_copied_layout<announcement, 12, 4>());
constexpr announcement blank{-1, 0, 0};
constexpr int32_t come = 1;
constexpr int32_t stay = 2;

void rest() {
    const timespec a_moment{0, 1'000'000};
    direct::call(SYS_nanosleep, direct::address(&a_moment));
}

}  // namespace

const char* clock_meeting::path_of(std::string_view name) {
    snprintf(path_, sizeof path_, "%s/%.*s", folder_, static_cast<int>(name.size()), name.data());
    return path_;
}

int clock_meeting::open(std::string_view name, int flags) {
    return direct::open(path_of(name), flags | O_CLOEXEC, 0600);
}

/// A new file, empty; false when there is one, or none can be made.
bool clock_meeting::make(std::string_view name) {
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL);
    if (fd >= 0) direct::close(fd);
    return fd >= 0;
}

bool clock_meeting::exists(std::string_view name) {
    const int fd = open(name, O_RDONLY);
    if (fd >= 0) direct::close(fd);
    return fd >= 0;
}

/// Opened anew each time: then NFS, too, shows what another node has written.
bool clock_meeting::read(std::string_view name, void* out, size_t bytes) {
    const int fd = open(name, O_RDONLY);
    if (fd < 0) return false;
    const bool whole = direct::read(fd, out, bytes) == static_cast<ssize_t>(bytes);
    direct::close(fd);
    return whole;
}

bool clock_meeting::write(std::string_view name, const void* what, size_t bytes, int64_t offset) {
    const int fd = open(name, O_WRONLY);
    if (fd < 0) return false;
    const bool whole = direct::pwrite(fd, what, bytes, offset) == static_cast<ssize_t>(bytes);
    direct::close(fd);
    return whole;
}

/// Renames `first`, unless that was done before; true when it is decided so. (NFS may say that a rename failed which
/// it has made.)
bool clock_meeting::decide(std::string_view how) {
    char to[sizeof path_];
    std::memcpy(to, path_of(how), sizeof to);
    direct::call(SYS_renameat2, AT_FDCWD, direct::address(path_of(first)), AT_FDCWD, direct::address(to), 0);
    return exists(how);
}

/// The folder goes with the last file.
void clock_meeting::remove(std::string_view name) {
    direct::unlink(path_of(name));
    direct::call(SYS_unlinkat, AT_FDCWD, direct::address(folder_), AT_REMOVEDIR);
}

void clock_meeting::announce(std::string_view folder, std::string_view clock, int told_rank) {
    role_ = role::none;
    if (folder.empty() || folder.size() >= sizeof folder_ || announcements.size() + clock.size() >= sizeof own_) return;
    *std::copy(folder.begin(), folder.end(), folder_) = '\0';
    char* const end =
        std::copy(clock.begin(), clock.end(), std::copy(announcements.begin(), announcements.end(), own_));
    *end = '\0';
    std::replace(own_, end, '/', '_');
    direct::call(SYS_mkdirat, AT_FDCWD, direct::address(folder_), 0700);
    if (told_rank == 0) {
        if (make(first)) role_ = role::first;
    } else if (make(own_)) {
        if (write(own_, &blank, sizeof blank, 0))
            role_ = role::announced;
        else
            remove(own_);
    }
}

std::span<const int> clock_meeting::agree(int rank, int ranks, int64_t patience_ns) {
    if (role_ == role::none) return {};
    if (role_ == role::first && rank == 0) return lead(ranks, patience_ns);
    const auto together = follow(rank, ranks, patience_ns);
    remove(role_ == role::first ? first : std::string_view(own_));
    return together;
}

void clock_meeting::end() {
    if (role_ == role::first) remove(go);
}

/// Calls `function(name)` with each announcement.
template <class Function>
void clock_meeting::each_announcement(Function function) {
    static_cast<void>(each_entry(folder_, -1, [&](int, const char* entry) {
        const std::string_view name(entry);
        if (name.starts_with(announcements)) function(name);
        return false;
    }));
}

/// Puts the ranks of those who announced themselves into the list; returns their number.
size_t clock_meeting::gather(int ranks, int64_t until_ns) {
    size_t count = 1;
    ranks_[0] = 0;
    each_announcement([&](std::string_view name) {
        if (name == own_ || count == most_ranks) return;
        announcement other = blank;
        while (read(name, &other, sizeof other) && other.rank < 0 && monotonic_ns() < until_ns) rest();
        const bool is_new = std::find(ranks_, ranks_ + count, other.rank) == ranks_ + count;
        if (other.ranks == ranks && other.rank > 0 && other.rank < ranks && is_new) ranks_[count++] = other.rank;
    });
    return count;
}

void clock_meeting::answer_all(size_t count) {
    each_announcement([&](std::string_view name) {
        announcement other = blank;
        if (!read(name, &other, sizeof other)) return;
        const bool is_in = std::find(ranks_ + 1, ranks_ + count, other.rank) != ranks_ + count;
        const int32_t answer = is_in ? come : stay;
        (void)write(name, &answer, sizeof answer, offsetof(announcement, answer));
    });
}

std::span<const int> clock_meeting::lead(int ranks, int64_t patience_ns) {
    const size_t count = ranks > 1 ? gather(ranks, monotonic_ns() + patience_ns / 2) : 1;
    const bool together = count > 1 && write(first, ranks_, count * sizeof ranks_[0], 0) && decide(go);
    answer_all(together ? count : 1);
    if (together) return {ranks_, count};
    remove(first);
    remove(no);
    return {};
}

/// Waits until rank 0 has answered. False: without this process.
bool clock_meeting::is_invited(int64_t until_ns) {
    announcement own = blank;
    while (read(own_, &own, sizeof own) && own.answer == 0 && monotonic_ns() < until_ns) rest();
    // Without an answer in time: `first` says whether there will be one.
    return own.answer == come || (own.answer == 0 && !decide(no));
}

std::span<const int> clock_meeting::follow(int rank, int ranks, int64_t patience_ns) {
    if (role_ != role::announced) return {};
    if (!exists(first) && !exists(go)) return {};  // rank 0 has no recorder
    const int32_t told[] = {rank, ranks};
    if (!write(own_, told, sizeof told, 0) || !is_invited(monotonic_ns() + patience_ns)) return {};
    return read_list(rank);
}

std::span<const int> clock_meeting::read_list(int rank) {
    const int fd = open(go, O_RDONLY);
    if (fd < 0) return {};
    const ssize_t bytes = direct::read(fd, ranks_, sizeof ranks_);
    direct::close(fd);
    const size_t count = bytes < 0 ? 0 : static_cast<size_t>(bytes) / sizeof ranks_[0];
    if (std::find(ranks_, ranks_ + count, rank) == ranks_ + count) return {};
    return {ranks_, count};
}

}  // namespace halcyon::calls
