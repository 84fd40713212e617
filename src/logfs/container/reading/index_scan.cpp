#include "logfs/container/reading/index_scan.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "logfs/container/format/varint.hpp"

namespace halcyon::logfs {
namespace {

constexpr size_t batch_blocks = 128;
// A writer changes its slots all the time: only what stays so is damage.
constexpr int looks_at_a_slot = 200;

/// Up to the first 0, or all of it.
template <size_t room>
std::string_view text_in(const char (&field)[room]) {
    return {field, strnlen(field, room)};
}

/// Where the data end that the block before `next` names, if that is sound; else as far as any do.
int64_t data_end_before(const std::byte* next, uint32_t number, int64_t data_bytes) {
    if (next == nullptr) return data_bytes;
    block_header header{};
    std::memcpy(static_cast<void*>(&header), next, sizeof header);
    return header.number == number + 1 ? header.base.physical_end : data_bytes;
}

bool is_all_zero(const std::byte* at, size_t bytes) {
    return std::all_of(at, at + bytes, [](std::byte b) { return b == std::byte{0}; });
}

/// The valid slots of two, or zeros. False: one of them is neither valid, nor empty, nor being written; then `bad_at`
/// says which.
template <class Slot>
bool newer_of(const std::byte* head, size_t (*place)(uint64_t), uint64_t salt, Slot& newer, Slot& older,
              size_t& bad_at) {
    bool all_valid = true;
    newer = {};
    older = {};
    for (uint64_t i = 0; i < 2; ++i) {
        Slot slot{};
        std::memcpy(static_cast<void*>(&slot), head + place(i), sizeof slot);
        if (slot.sequence == 0) continue;
        if (slot.check != check_of(slot, salt) || slot.sequence % 2 != i) {
            all_valid = false;
            bad_at = place(i);
        } else if (slot.sequence > newer.sequence) {
            older = newer;
            newer = slot;
        } else {
            older = slot;
        }
    }
    return all_valid;
}

}  // namespace

const char* index_damage::description() const {
    switch (what) {
        case part::none:
            return "nothing";
        case part::magic:
            return "no index dropping of Halcyon";
        case part::version:
            return "another format version";
        case part::header:
            return "its header does not fit its check sum";
        case part::state:
            return "its state does not fit its check sum";
        case part::commit:
            return "its commit does not fit its check sum";
        case part::block:
            return "a block of records does not fit its check sum";
        case part::missing_block:
            return "it ends before a block of records";
    }
    return "";
}

bool index_scan::report(index_damage what, index_visitor& visitor) {
    if (visitor.found(what)) return true;
    damage_ = what;
    return false;
}

int index_scan::go_on(int fd, dropping& of, dropping_table& table, index_visitor& visitor) {
    damage_ = {};
    if (of.is_closed || of.is_gone) return 0;
    if (const int done = read_head(fd, of); done <= 0) return done;
    if (!of.has_header) {
        int done = read_header(0, of, table);
        // Its writer may be about to write it.
        for (int looks = 1; done == 0 && looks < looks_at_a_slot; ++looks) {
            damage_ = {};
            if (const int there = read_head(fd, of); there <= 0) return there;
            done = read_header(0, of, table);
        }
        if (done < 0) return done;
        if (done == 0) {
            const index_damage first = damage_;
            if (!visitor.found(first)) return 0;
            damage_ = {};
            done = read_header(header_copy_at, of, table);
            if (done <= 0) return done;
        }
    }
    salt_ = of.salt;
    size_t bad_at = 0;
    state_slot older{};
    bool has_lost_state = false;
    for (int looks = 1; !newer_of(head_, state_slot_at, salt_, state_, older, bad_at); ++looks) {
        if (looks < looks_at_a_slot) {
            if (const int done = read_head(fd, of); done <= 0) return done;
            continue;
        }
        if (!report({index_damage::part::state, false, static_cast<int64_t>(bad_at), 0, 0, 0}, visitor)) return 0;
        has_lost_state = state_.sequence == 0;
        break;
    }
    if (!read_slots(visitor)) return 0;
    if (state_.sequence == 0 && !has_lost_state) {
        // Its writer made one before the header. A crash of the node may have left that behind only.
        const bool is_torn = commit_.sequence == 0;
        const auto at = static_cast<int64_t>(state_slot_at(1));
        if (!report({index_damage::part::state, is_torn, at, 0, 0, 0}, visitor)) return 0;
        of.is_cut = is_torn;
        has_lost_state = !is_torn;
    }
    if (has_lost_state && state_.sequence == 0) {
        if (const int done = take_all_there_is(fd); done != 0) return done;
    }
    of.committed = commit_.end;
    of.committed_bytes = commit_.data_bytes;
    if (state_.sequence == of.state_sequence) return 0;
    if (stops_at_commit_) {
        if (commit_.sequence == 0) return 0;
        state_.end = commit_.end;
        state_.data_bytes = commit_.data_bytes;
        state_.runs = 0;
    }
    of.is_cut = false;
    if (const int done = read_records(fd, of, visitor); done != 0 || damage_) return done;
    // What is cut of a writer on another node may only not have come here yet.
    of.state_sequence = of.is_cut && state_.is_closed == 0 ? 0 : state_.sequence;
    of.data_bytes = state_.data_bytes;
    of.logical_end = state_.logical_end;
    of.writes = state_.writes;
    of.written_bytes = state_.written_bytes;
    of.cuts = state_.cuts;
    of.is_closed = state_.is_closed != 0;
    of.live_runs = 0;
    for (const run* each : {&state_.pattern, &state_.element}) {
        if (of.live_runs < state_.runs && is_sound(*each)) of.live[of.live_runs++] = *each;
    }
    return 0;
}

/// 1: there is a head; 0: not yet.
int index_scan::read_head(int fd, dropping& of) {
    // All of it the first time, later the slots.
    const size_t from = of.has_header ? sector_bytes : 0;
    const size_t to = of.has_header ? 5 * sector_bytes : block_bytes;
    const int64_t bytes = read_all(fd, head_ + from, to - from, static_cast<int64_t>(from));
    if (bytes < 0) return static_cast<int>(bytes);
    std::memset(head_ + from + bytes, 0, to - from - static_cast<size_t>(bytes));
    return !of.has_header && is_all_zero(head_, sizeof(index_header)) ? 0 : 1;
}

/// 1: the header at that place is sound; 0: `damage_` says why not; -errno.
int index_scan::read_header(size_t at, dropping& of, dropping_table& table) {
    index_header header{};
    std::memcpy(&header, head_ + at, sizeof header);
    if (std::memcmp(header.magic, index_magic, sizeof index_magic) != 0) {
        damage_ = {index_damage::part::magic, false, static_cast<int64_t>(at), 0, 0, 0};
        return 0;
    }
    if (header.version != format_version || header.byte_order != byte_order_mark) {
        // A version that is not known has a check that is not known.
        const bool is_ours = header.check == check_of(header, 0);
        damage_ = {is_ours ? index_damage::part::version : index_damage::part::header,
                   false,
                   static_cast<int64_t>(at) + 8,
                   header.version,
                   0,
                   0};
        return 0;
    }
    if (header.check != check_of(header, 0) || header.block_size != block_bytes) {
        damage_ = {index_damage::part::header, false, static_cast<int64_t>(at), 0, 0, 0};
        return 0;
    }
    of.pid = header.pid;
    of.created_ns = header.created_ns;
    of.clock_bound_ns = std::max(header.clock_bound_ns, int64_t{0});
    of.group = header.group;
    of.salt = header.salt;
    of.rank = header.rank;
    of.has_checks = header.has_checks != 0;
    if (!table.note_clock(of, text_in(header.host), text_in(header.boot_id))) return -ENOMEM;
    of.has_header = true;
    return 1;
}

/// False: damage that is not passed over.
bool index_scan::read_slots(index_visitor& visitor) {
    size_t bad_at = 0;
    commit_slot older{};
    if (!newer_of(head_, commit_slot_at, salt_, commit_, older, bad_at) &&
        !report({index_damage::part::commit, false, static_cast<int64_t>(bad_at), 0, 0, 0}, visitor))
        return false;
    // One that no sync has followed may name records that never reached the disk.
    if (state_.sequence > 0 && commit_.sequence > state_.synced_commit) commit_ = older;
    if (commit_.state_sequence <= state_.sequence) return true;
    // What was committed is newer than all states: the newest is lost.
    const index_damage lost{
        index_damage::part::state, false, static_cast<int64_t>(state_slot_at(commit_.state_sequence)), 0, 0, 0};
    if (!report(lost, visitor)) return false;
    if (state_.end.is_before(commit_.end)) {
        state_.end = commit_.end;
        state_.data_bytes = commit_.data_bytes;
    }
    state_.sequence = commit_.state_sequence;
    return true;
}

/// Without any state: up to the last record that fits its check.
int index_scan::take_all_there_is(int fd) {
    struct stat file {};
    if (const int done = calls_.status(fd, file); done != 0) return done;
    const int64_t blocks = (file.st_size - 1) / static_cast<int64_t>(block_bytes);
    if (blocks <= 0) return 0;
    state_.sequence = 1;
    state_.end = {static_cast<uint32_t>(blocks - 1), record_room, 0};
    return 0;
}

int index_scan::read_records(int fd, dropping& of, index_visitor& visitor) {
    if (!buffer_.resize(batch_blocks * block_bytes)) return -ENOMEM;
    const uint32_t last = state_.end.block;
    if (last - of.at.block > batch_blocks) calls_.advise_soon(fd, block_at(of.at.block), block_at(last));
    while (of.at.block <= last) {
        const uint32_t first = of.at.block;
        const size_t blocks = std::min<size_t>(last - first + 1, batch_blocks);
        // Of the last block only what is written.
        const size_t wanted = first + blocks - 1 == last
                                  ? (blocks - 1) * block_bytes + sizeof(block_header) + state_.end.used
                                  : blocks * block_bytes;
        if (state_.end.used > record_room) {
            report({index_damage::part::state, false, block_at(last), 0, 0, 0}, visitor);
            return 0;
        }
        const int64_t bytes = read_all(fd, buffer_.data(), wanted, block_at(first));
        if (bytes < 0) return static_cast<int>(bytes);
        std::memset(buffer_.data() + bytes, 0, wanted - static_cast<size_t>(bytes));
        for (size_t i = 0; i < blocks; ++i) {
            const size_t begin = i * block_bytes;
            const size_t there = static_cast<size_t>(bytes) > begin ? static_cast<size_t>(bytes) - begin : 0;
            const std::byte* const next = i + 1 < blocks ? buffer_.data() + begin + block_bytes : nullptr;
            const int done = read_block(buffer_.data() + begin, there, next, of, visitor);
            if (done != 0 || damage_ || of.is_cut) return done;
            if (first + i == last) return 0;
        }
    }
    return 0;
}

/// Takes the records that are new in the block where `of` stands; behind a full one it stands before the next.
int index_scan::read_block(const std::byte* block, size_t present, const std::byte* next, dropping& of,
                           index_visitor& visitor) {
    const uint32_t number = of.at.block;
    const bool is_last = number == state_.end.block;
    const int64_t known_data_end = of.base.physical_end;
    block_header header{};
    std::memcpy(static_cast<void*>(&header), block, sizeof header);
    if (of.at.used == 0) {
        of.base = header.base;
        of.at.check = check_of_block(number, header.base, salt_);
    }
    const uint32_t limit = is_last ? state_.end.used : header.full_used;
    const uint32_t check = is_last ? state_.end.check : header.full_check;
    const std::byte* const fresh = block + sizeof header + of.at.used;
    const bool is_whole = present >= sizeof header && header.number == number && limit <= record_room &&
                          limit >= of.at.used && (is_last || limit > 0) &&
                          crc32c({fresh, limit - of.at.used}, of.at.check) == check;
    if (is_whole) {
        if (const int done = take_records(block, limit, false, of, visitor); done != 0) return done;
    }
    if (is_whole && of.at.used == limit) {
        of.at.check = check;
        if (!is_last) of.at = {number + 1, 0, 0};
        return 0;
    }
    // Record by record as far as they go: what was written before a crash of the node is a beginning of the block.
    if (!is_whole && header.number == number && present >= sizeof header) {
        const uint32_t most = is_last ? limit : record_room;
        if (const int done = take_records(block, most, true, of, visitor); done != 0) return done;
    }
    // A base that no record has confirmed says nothing.
    if (of.at.used == 0) of.base.physical_end = known_data_end;
    index_damage damage;
    damage.what = present < sizeof header ? index_damage::part::missing_block : index_damage::part::block;
    damage.is_torn = !of.at.is_before(of.committed);
    damage.offset = block_at(number) + static_cast<int64_t>(sizeof header) + of.at.used;
    damage.data_from = of.base.physical_end;
    damage.data_to = data_end_before(next, number, state_.data_bytes);
    if (!report(damage, visitor)) return 0;
    if (is_last || damage.is_torn)
        of.is_cut = true;
    else
        of.at = {number + 1, 0, 0};
    return 0;
}

/// Up to `limit`, or the first that makes no sense; with `each_checked`, or does not fit its check.
int index_scan::take_records(const std::byte* block, uint32_t limit, bool each_checked, dropping& of,
                             index_visitor& visitor) {
    const std::byte* const records = block + sizeof(block_header);
    while (of.at.used + record_check_bytes < limit) {
        record what;
        coding_base after = of.base;
        const size_t bytes =
            decode_record({records + of.at.used, limit - of.at.used - record_check_bytes}, after, what);
        if (bytes == 0) return 0;
        const std::byte* const check = records + of.at.used + bytes;
        if (each_checked) {
            const uint32_t sum = crc32c({records + of.at.used, bytes}, of.at.check);
            std::byte expected[record_check_bytes];
            put_word(expected, record_check(sum));
            if (std::memcmp(expected, check, record_check_bytes) != 0) return 0;
            of.at.check = crc32c({check, record_check_bytes}, sum);
        }
        if (const int done = visitor.take(what); done != 0) return done;
        of.base = after;
        of.at.used += static_cast<uint32_t>(bytes + record_check_bytes);
    }
    return 0;
}

/// As much as there is; -errno.
int64_t index_scan::read_all(int fd, std::byte* into, size_t bytes, int64_t offset) {
    size_t read = 0;
    while (read < bytes) {
        const iovec rest{into + read, bytes - read};
        const int64_t more = calls_.read_at(fd, &rest, 1, offset + static_cast<int64_t>(read));
        if (more < 0) return more;
        if (more == 0) break;
        read += static_cast<size_t>(more);
    }
    return static_cast<int64_t>(read);
}

}  // namespace halcyon::logfs
