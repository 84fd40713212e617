#include "logfs/container/reading/index_scan.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>

#include "logfs/container/files/whole_transfer.hpp"
#include "logfs/container/format/varint.hpp"

namespace halcyon::logfs {
namespace {

constexpr size_t batch_blocks = 128;

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

index_damage damage_at(index_damage::part what, size_t offset, bool is_torn = false) {
    index_damage found;
    found.what = what;
    found.is_torn = is_torn;
    found.offset = static_cast<int64_t>(offset);
    return found;
}

uint64_t bytes_between(const stream_place& from, const stream_place& to) {
    return to.is_before(from) ? 0 : uint64_t{to.block - from.block} * block_bytes + to.used - from.used;
}

/// Whether anything tells of a sync that has ended: a second commit does.
bool has_synced(const state_slot& state, const commit_slot& commit) {
    return commit.sequence > 1 || (commit.sequence == 1 && state.synced_commit > 0);
}

}  // namespace

bool index_scan::report(const index_damage& what, index_visitor& visitor) {
    if (visitor.found(what)) return true;
    damage_ = what;
    return false;
}

int index_scan::go_on(int fd, dropping& of, dropping_table& table, index_visitor& visitor) {
    damage_ = {};
    if (of.is_closed || of.is_gone) return 0;
    if (const int done = head_.read(fd, of.salt, of.has_header); done <= 0) return done;
    if (!of.has_header) {
        if (const int done = take_header(of, table, visitor); done <= 0) return done;
    }
    salt_ = of.salt;
    if (const int done = take_slots(fd, of, visitor); done <= 0) return done;
    of.committed = commit_.end;
    of.committed_bytes = committed_bytes(commit_, salt_);
    if (state_.sequence == of.state_sequence) return 0;
    if (stops_at_commit_) {
        if (commit_.sequence == 0) return 0;
        state_.end = commit_.end;
        state_.data_bytes = commit_.data_bytes;
        state_.runs = 0;
    }
    if (const int done = visitor.comes(bytes_between(of.at, state_.end)); done != 0) return done;
    of.is_cut = false;
    if (const int done = read_records(fd, of, visitor); done != 0 || damage_) return done;
    if (of.is_cut) {
        if (const int done = take_synced_runs(of, visitor); done != 0) return done;
    }
    take_state(of);
    return 0;
}

/// Who stops at the commit knows nothing of what data behind it are.
int64_t index_scan::committed_bytes(const commit_slot& commit, uint64_t salt) const {
    return stops_at_commit_ ? commit.data_bytes : std::max(commit.data_bytes, head_.synced(salt).data_bytes());
}

/// Those that were open when another process synced for the writer: what followed may have replaced them by records
/// that a crash of the node has lost.
int index_scan::take_synced_runs(const dropping& of, index_visitor& visitor) {
    const synced_head synced = head_.synced(salt_);
    const state_slot& state = synced.state();
    if (state.sequence == 0 || of.at.is_before(state.end) || state.runs > 2) return 0;
    const run* const runs[] = {&state.pattern, &state.element};
    for (uint16_t i = 0; i < state.runs; ++i) {
        record what;
        what.what = *runs[i];
        if (!is_sound(*runs[i])) return 0;
        if (const int done = visitor.take(what); done != 0) return done;
    }
    return 0;
}

int index_scan::confirm(int fd, dropping& of) {
    dropping fresh;
    fresh.salt = of.salt;
    if (const int done = head_.read(fd, fresh.salt, false); done <= 0) return done;
    index_header header{};
    if (head_.check_header(0, header) || header.salt != of.salt || header.group != of.group || header.pid != of.pid ||
        header.created_ns != of.created_ns || header.rank != of.rank)
        return 0;
    const auto states = head_.states(of.salt);
    const auto commits = head_.commits(of.salt);
    const state_slot& state = states.newer;
    if (states.bad_at != 0 || commits.bad_at != 0 || commits.newer.state_sequence > state.sequence) return 0;
    const bool is_longer = !of.is_closed && state.sequence > of.state_sequence && !state.end.is_before(of.at);
    const bool is_same = state.sequence == of.state_sequence && state.end == of.at &&
                         (state.is_closed == writer_ended) == of.is_closed && state.data_bytes == of.data_bytes;
    if ((!is_longer && !is_same) || !has_last_block(fd, of)) return 0;
    const commit_slot& commit = commits.newer.sequence > state.synced_commit ? commits.older : commits.newer;
    of.committed = commit.end;
    of.committed_bytes = committed_bytes(commit, of.salt);
    return 1;
}

/// Of which records were taken last, as it was: earlier ones do not change any more.
bool index_scan::has_last_block(int fd, const dropping& of) {
    const size_t bytes = sizeof(block_header) + of.at.used;
    if (!buffer_.resize(block_bytes)) return false;
    const auto block = buffer_.all().first(bytes);
    if (read_whole(calls_, fd, block, block_at(of.at.block)) != static_cast<int64_t>(bytes)) return false;
    block_header header{};
    std::memcpy(static_cast<void*>(&header), block.data(), sizeof header);
    const uint32_t check = check_of_block(of.at.block, header.base, of.salt);
    return header.number == of.at.block && crc32c(block.subspan(sizeof header), check) == of.at.check;
}

void index_scan::take_state(dropping& of) {
    // What is cut of a writer on another node may only not have come here yet.
    of.state_sequence = of.is_cut && state_.is_closed != writer_ended ? 0 : state_.sequence;
    of.data_bytes = state_.data_bytes;
    of.logical_end = state_.logical_end;
    of.writes = state_.writes;
    of.written_bytes = state_.written_bytes;
    of.cuts = state_.cuts;
    of.is_closed = state_.is_closed == writer_ended;
    of.rests = state_.is_closed == writer_rests;
    of.live_runs = state_.runs;
    of.live[0] = state_.pattern;
    of.live[1] = state_.element;
}

/// Nothing of a header is there, and no sync has ended: a crash of the node leaves that.
bool index_scan::is_unsynced_header(size_t at, const dropping& of) const {
    return !has_synced(head_.states(of.salt).newer, head_.commits(of.salt).newer) && head_.is_without_header(at);
}

/// 1: the header or its copy is sound; 0: neither is, or the damage is not passed over; -errno.
int index_scan::take_header(dropping& of, dropping_table& table, index_visitor& visitor) {
    index_header header{};
    index_header copy{};
    const index_damage in_header = head_.check_header(0, header);
    const index_damage in_copy = head_.check_header(header_copy_at, copy);
    const bool is_lost = in_header && is_unsynced_header(0, of);
    const bool is_copy_lost = in_copy && is_unsynced_header(header_copy_at, of);
    // Whose it is has to be known before anybody can say what its damage means.
    if ((!in_header || !in_copy) && !adopt(in_header ? copy : header, of, table)) return -ENOMEM;
    if (!in_header) return 1;
    const index_damage lost = damage_at(index_damage::part::header, 0, true);
    const index_damage lost_copy = damage_at(index_damage::part::header, header_copy_at, true);
    if (!report(is_lost ? lost : in_header, visitor) ||
        (in_copy && !report(is_copy_lost ? lost_copy : in_copy, visitor)))
        of.has_header = false;
    return of.has_header ? 1 : 0;
}

/// False: no memory.
bool index_scan::adopt(const index_header& header, dropping& of, dropping_table& table) {
    of.pid = header.pid;
    of.created_ns = header.created_ns;
    of.clock_bound_ns = std::max(header.clock_bound_ns, int64_t{0});
    of.group = header.group;
    of.salt = header.salt;
    of.rank = header.rank;
    of.has_checks = header.has_checks != 0;
    of.has_header = table.note_clock(of, text_in(header.host), text_in(header.boot_id));
    return of.has_header;
}

/// 1: state_ and commit_ say what is there; 0: damage that is not passed over; -errno.
int index_scan::take_slots(int fd, dropping& of, index_visitor& visitor) {
    const auto states = head_.states(salt_);
    const auto commits = head_.commits(salt_);
    state_ = states.newer;
    commit_ = commits.newer;
    if (states.bad_at != 0 && !report(damage_at(index_damage::part::state, states.bad_at), visitor)) return 0;
    if (commits.bad_at != 0 && !report(damage_at(index_damage::part::commit, commits.bad_at), visitor)) return 0;
    if (state_.sequence == 0 && states.bad_at == 0) {
        // Its writer made one before the header. A crash of the node may leave other parts of the head only.
        const bool is_torn = !has_synced(state_, commit_);
        if (!report(damage_at(index_damage::part::state, state_slot_at(1), is_torn), visitor)) return 0;
        of.is_cut = is_torn;
        if (is_torn) commit_ = {};
        if (is_torn) return 1;
    }
    // One that no sync has followed may name records that never reached the disk.
    if (state_.sequence > 0 && commit_.sequence > state_.synced_commit) commit_ = commits.older;
    if (state_.sequence > 0 && commit_.state_sequence > state_.sequence &&
        !report(damage_at(index_damage::part::state, state_slot_at(commit_.state_sequence)), visitor))
        return 0;
    if (commit_.state_sequence > state_.sequence) go_back_to_commit();
    if (state_.sequence == 0) {
        if (const int done = take_all_there_is(fd); done != 0) return done;
    }
    if (has_sound_runs()) return 1;
    if (!report(damage_at(index_damage::part::state, state_slot_at(state_.sequence)), visitor)) return 0;
    state_.runs = 0;
    return 1;
}

/// What was committed is newer than all states that are left.
void index_scan::go_back_to_commit() {
    if (state_.end.is_before(commit_.end)) {
        state_.end = commit_.end;
        state_.data_bytes = commit_.data_bytes;
    }
    state_.sequence = commit_.state_sequence;
}

/// Without any state: up to the last record that fits its check.
int index_scan::take_all_there_is(int fd) {
    struct stat file {};
    if (const int done = calls_.status(fd, file); done != 0) return done;
    const int64_t blocks = (file.st_size - 1) / static_cast<int64_t>(block_bytes);
    if (blocks <= 0) return 0;
    state_.sequence = 1;
    state_.end = {static_cast<uint32_t>(std::min<int64_t>(blocks, UINT32_MAX) - 1), record_room, 0};
    return 0;
}

/// Whether a reader may take the runs of the state for what a writer can have left there.
bool index_scan::has_sound_runs() const {
    const bool is_first = state_.runs < 1 || is_sound(state_.pattern);
    const bool is_second = state_.runs < 2 || is_sound(state_.element);
    return state_.runs <= 2 && is_first && is_second && state_.end.used <= record_room;
}

int index_scan::read_records(int fd, dropping& of, index_visitor& visitor) {
    if (state_.end.used > record_room) return 0;
    if (!buffer_.resize(batch_blocks * block_bytes)) return -ENOMEM;
    const uint32_t last = state_.end.block;
    if (last > of.at.block && last - of.at.block > batch_blocks)
        calls_.advise_soon(fd, block_at(of.at.block), block_at(last) - block_at(of.at.block));
    while (of.at.block <= last) {
        const uint32_t first = of.at.block;
        const size_t blocks = std::min<size_t>(size_t{last - first} + 1, batch_blocks);
        // Of the last block only what is written.
        const size_t wanted = first + blocks - 1 == last
                                  ? (blocks - 1) * block_bytes + sizeof(block_header) + state_.end.used
                                  : blocks * block_bytes;
        const int64_t bytes = read_whole(calls_, fd, buffer_.all().first(wanted), block_at(first));
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
    const bool is_missing = present < sizeof(block_header);
    const int64_t known_data_end = of.base.physical_end;
    block_header header{};
    std::memcpy(static_cast<void*>(&header), block, sizeof header);
    if (of.at.used == 0) {
        of.base = header.base;
        of.at.check = check_of_block(number, header.base, salt_);
    }
    const uint32_t taken = of.at.used;
    const uint32_t limit = is_last ? state_.end.used : header.full_used;
    const uint32_t check = is_last ? state_.end.check : header.full_check;
    const std::byte* const fresh = block + sizeof header + taken;
    const bool is_whole = !is_missing && header.number == number && limit <= record_room && limit >= of.at.used &&
                          (is_last || limit > 0) && crc32c({fresh, limit - of.at.used}, of.at.check) == check;
    if (is_whole) {
        const int done = take_records(block, limit, false, of, visitor);
        const bool is_all = of.at.used == limit;
        of.at.check = is_all ? check : crc32c({fresh, of.at.used - taken}, of.at.check);
        if (done == 0 && is_all && !is_last) of.at = {number + 1, 0, 0};
        if (done != 0 || is_all) return done;
    }
    // Record by record as far as they go: what was written before a crash of the node is a beginning of the block.
    if (!is_whole && !is_missing && header.number == number) {
        const uint32_t most = is_last ? limit : record_room;
        if (const int done = take_records(block, most, true, of, visitor); done != 0) return done;
    }
    // A base that no record has confirmed says nothing.
    if (of.at.used == 0) of.base.physical_end = known_data_end;
    index_damage damage =
        damage_at(is_missing ? index_damage::part::missing_block : index_damage::part::block,
                  static_cast<size_t>(block_at(number)) + sizeof header + of.at.used, !of.at.is_before(of.committed));
    damage.data_from = of.base.physical_end;
    damage.data_to = is_missing ? state_.data_bytes : data_end_before(next, number, state_.data_bytes);
    // Behind its end the file has nothing, however many blocks the state tells of.
    const bool is_end = is_last || is_missing || damage.is_torn;
    damage.is_passed = !is_end;
    if (!report(damage, visitor)) return 0;
    if (is_end)
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

}  // namespace halcyon::logfs
