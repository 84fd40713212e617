#include "logfs/container/reading/head_reader.hpp"

#include <algorithm>
#include <span>

#include "logfs/container/files/whole_transfer.hpp"

namespace halcyon::logfs {
namespace {

// Only what stays as it is is damage: a writer may have been interrupted in the middle of a write.
constexpr int looks_in_a_row = 64;
constexpr int looks_with_pauses = 16;
constexpr int64_t pause_ns = 250'000;
// Of what somebody changes all the time without ever leaving anything whole.
constexpr int most_looks = 20'000;

bool is_all_zero(const std::byte* at, size_t bytes) {
    return std::all_of(at, at + bytes, [](std::byte b) { return b == std::byte{0}; });
}

enum class condition { whole, begun, bad };

/// A slot that was never written is whole, too.
template <class Slot>
condition condition_of(const std::byte* at, uint64_t which, uint64_t salt) {
    Slot slot{};
    std::memcpy(static_cast<void*>(&slot), at, sizeof slot);
    if (slot.sequence == 0) return is_all_zero(at, sizeof slot) ? condition::whole : condition::begun;
    return is_sound(slot, which, salt) ? condition::whole : condition::bad;
}

}  // namespace

int head_reader::read(int fd, uint64_t salt, bool knows_header) {
    int unchanged = 0;
    for (int looks = 1;; ++looks) {
        const int done = read_once(fd, salt, knows_header);
        bool is_explained = false;
        if (done <= 0 || is_settled(salt, knows_header, looks == 1, is_explained)) return done;
        unchanged = is_explained ? 0 : unchanged + 1;
        if (unchanged == looks_in_a_row + looks_with_pauses || looks == most_looks) return done;
        if (unchanged >= looks_in_a_row) calls_.pause(pause_ns);
    }
}

int head_reader::read_once(int fd, uint64_t salt, bool knows_header) {
    const size_t from = knows_header ? sector_bytes : 0;
    const size_t to = block_bytes;
    const int64_t bytes = read_whole(calls_, fd, std::span(head_ + from, to - from), static_cast<int64_t>(from));
    if (bytes < 0) return static_cast<int>(bytes);
    std::memset(head_ + from + bytes, 0, to - from - static_cast<size_t>(bytes));
    return knows_header || is_begun(salt) ? 1 : 0;
}

/// A writer begins with a state, the copy of its header, and the header, and only then writes anything. By which salt
/// the sums of the slots are made, the dropping's name says, too.
bool head_reader::is_begun(uint64_t salt) const {
    return !is_without_header(0) || states(salt).newer.sequence > 1 || commits(salt).newer.sequence > 0;
}

bool head_reader::is_without_header(size_t at) const {
    return is_all_zero(head_ + at, sizeof(index_header));
}

index_damage head_reader::check_header(size_t at, index_header& header) const {
    std::memcpy(&header, head_ + at, sizeof header);
    index_damage found;
    found.offset = static_cast<int64_t>(at);
    const bool is_whole = header.check == check_of(header, 0);
    if (std::memcmp(header.magic, index_magic, sizeof index_magic) != 0) {
        found.what = index_damage::part::magic;
    } else if (is_whole && (header.version != format_version || header.byte_order != byte_order_mark)) {
        found.what = index_damage::part::version;
        found.seen = header.version;
    } else if (!is_whole || header.block_size != block_bytes) {
        found.what = index_damage::part::header;
    }
    return found;
}

/// Nothing is being written; or there is a whole state, and what is not whole has changed since the look before: then
/// its writer was at it, and what is whole now is no older than the first look. Such slots are left as if they were
/// being written. `is_explained`: all that is not whole may be what its writer is at.
///
/// One look would not do: a reader may be interrupted between the two slots for as long as a writer needs to write
/// both, and would take the first as it was for the latest.
bool head_reader::is_settled(uint64_t salt, bool knows_header, bool is_first, bool& is_explained) {
    index_header header{};
    const bool is_known = knows_header || !check_header(0, header);
    const uint64_t its_salt = knows_header || !is_known ? salt : header.salt;
    bool is_whole = true;
    is_explained = is_known;
    bool is_passing[slots_count] = {};
    for (size_t which = 0; which < slots_count; ++which) {
        std::byte* const at = head_ + (1 + which) * sector_bytes;
        const condition found = which < 2 ? condition_of<state_slot>(at, which, its_salt)
                                          : condition_of<commit_slot>(at, which - 2, its_salt);
        const bool has_changed = !is_first && std::memcmp(before_[which], at, sizeof before_[which]) != 0;
        std::memcpy(before_[which], at, sizeof before_[which]);
        if (found == condition::whole) continue;
        is_whole = false;
        is_passing[which] = found == condition::bad && has_changed;
        is_explained = is_explained && (is_passing[which] || (found == condition::begun && !is_first));
    }
    if (is_whole) return is_known;
    if (states(its_salt).newer.sequence == 0) return false;
    for (size_t which = 0; which < slots_count; ++which) {
        if (is_passing[which]) std::memset(head_ + (1 + which) * sector_bytes, 0, sizeof(uint64_t));
    }
    return is_explained;
}

}  // namespace halcyon::logfs
