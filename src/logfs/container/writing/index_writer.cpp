#include "logfs/container/writing/index_writer.hpp"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "logfs/container/files/file_systems.hpp"
#include "logfs/container/files/whole_transfer.hpp"
#include "logfs/container/format/varint.hpp"

namespace halcyon::logfs {

int index_writer::create(int directory, const char* path, const index_header& header, bool may_map) {
    fd_ = calls_.open_at(directory, path, O_RDWR | O_CREAT | O_EXCL, 0644);
    if (fd_ < 0) {
        const int why = fd_;
        fd_ = -1;
        return why;
    }
    salt_ = header.salt;
    salt_check_ = crc32c(bytes_of(salt_));
    broken_ = 0;
    has_taken_back_ = false;
    reserved_blocks_ = 0;
    has_uncommitted_ = false;
    base_ = {};
    runs_ = {};
    state_ = {};
    int why = reserve_blocks(first_blocks);
    if (why == 0) {
        int cannot_map = ENODEV;
        void* const mapped = may_map && is_rewritten_in_place(calls_.file_system(fd_))
                                 ? calls_.map(fd_, 0, block_bytes, cannot_map)
                                 : nullptr;
        is_mapped_ = mapped != nullptr;
        head_ = static_cast<std::byte*>(is_mapped_ ? mapped : calls_.take_pages(block_bytes));
        if (head_ == nullptr) why = -ENOMEM;
    }
    if (why == 0) why = place_block(0);
    if (why == 0) why = write_head(header);
    if (why == 0) return 0;
    abandon();
    calls_.remove_at(directory, path, false);
    return why;
}

/// By one call, also into a mapped file: a process that is killed has written a head or none, never a part of one.
/// Where there is a header there is a state.
int index_writer::write_head(const index_header& header) {
    // In pages: stacks may be small.
    auto* const head = static_cast<std::byte*>(calls_.take_pages(block_bytes));
    if (head == nullptr) return -ENOMEM;
    ++state_.sequence;
    state_slot first = state_;
    first.check = check_of(first, salt_);
    std::memcpy(head, &header, sizeof header);
    std::memcpy(head + header_copy_at, &header, sizeof header);
    std::memcpy(head + state_slot_at(first.sequence), &first, sizeof first);
    if (!is_mapped_) std::memcpy(head_, head, block_bytes);
    published_ = {state_, base_, runs_};
    const int done = write_whole(calls_, fd_, {head, block_bytes}, 0);
    calls_.return_pages(head, block_bytes);
    return done;
}

/// So many more. Blocks first: a store into a page that the disk has no room for would end the application.
int index_writer::reserve_blocks(uint32_t blocks) {
    const int64_t from = reserved_blocks_ == 0 ? 0 : block_at(reserved_blocks_);
    const int64_t to = block_at(reserved_blocks_ + blocks);
    int done = calls_.reserve(fd_, from, to - from);
    if (done == -EOPNOTSUPP || done == -ENOSYS || done == -EINVAL) {  // some file systems: by writing
        alignas(16) static constexpr std::byte zeros[block_bytes] = {};
        done = 0;
        for (int64_t at = from; at < to && done == 0; at += static_cast<int64_t>(block_bytes))
            done = write_whole(calls_, fd_, zeros, at);
    }
    if (done == 0) reserved_blocks_ += blocks;
    return done;
}

int index_writer::make_room() {
    if (broken_ != 0) [[unlikely]]
        return broken_;
    if (has_taken_back_) [[unlikely]] {
        if (const int done = read_block(); done != 0) return done;
    }
    if (state_.end.used + room_ahead <= record_room) [[likely]]
        return 0;
    const uint32_t next = state_.end.block + 1;
    if (next >= reserved_blocks_) {
        const uint32_t doubled = reserved_blocks_ < most_blocks_at_once ? reserved_blocks_ : most_blocks_at_once;
        int done = reserve_blocks(doubled);
        if (done == -ENOSPC || done == -EDQUOT) done = reserve_blocks(1);
        if (done != 0) return done;
    }
    if (!is_mapped_ || place_in_window(next) != 0 || next_window_ != nullptr) return 0;
    return map_window(next, next_window_);
}

/// The window with this block. It may reach beyond the file: nothing is stored there.
int index_writer::map_window(uint32_t block, std::byte*& window) {
    const int64_t at = block_at(block) / static_cast<int64_t>(window_bytes) * static_cast<int64_t>(window_bytes);
    int error = 0;
    window = static_cast<std::byte*>(calls_.map(fd_, at, window_bytes, error));
    return window != nullptr ? 0 : -error;
}

/// Where the block lies in this process.
int index_writer::place_block(uint32_t number) {
    if (is_mapped_ && (window_ == nullptr || place_in_window(number) == 0)) {
        if (next_window_ == nullptr) {
            if (const int done = map_window(number, next_window_); done != 0) return done;
        }
        if (window_ != nullptr) calls_.unmap(window_, window_bytes);
        window_ = std::exchange(next_window_, nullptr);
    }
    if (!is_mapped_) {
        if (window_ == nullptr) window_ = static_cast<std::byte*>(calls_.take_pages(block_bytes));
        if (window_ == nullptr) return -ENOMEM;
        std::memset(window_, 0, block_bytes);
    }
    block_ = is_mapped_ ? window_ + place_in_window(number) : window_;
    block_header header{};
    header.number = number;
    header.base = base_;
    std::memcpy(block_, &header, sizeof header);
    state_.end = {number, 0, check_of_block(number, base_, salt_)};
    return write_part(block_, block_at(number), sizeof header);
}

/// The block that is full says how far its records go: the state soon says that of the next one only.
int index_writer::begin_next_block() {
    auto* const header = reinterpret_cast<block_header*>(block_);
    const stream_place full = state_.end;
    header->full_check = full.check;
    std::atomic_ref(header->full_used).store(full.used, std::memory_order_release);
    if (const int done = write_part(block_, block_at(full.block), sizeof *header); done != 0) return done;
    passed("full block");
    const int placed = place_block(full.block + 1);
    passed("next block");
    return placed;
}

/// Behind the records, where no reader looks before publish().
int index_writer::append(const record& what) {
    std::byte encoded[longest_record + record_check_bytes];
    coding_base after = base_;
    const size_t bytes = encode_record(what, after, encoded);
    if (state_.end.used + bytes + record_check_bytes > record_room) {
        if (const int done = begin_next_block(); done != 0) return done;
    }
    const uint32_t sum = crc32c({encoded, bytes}, state_.end.check);
    put_word(encoded + bytes, record_check(sum));
    const size_t whole = bytes + record_check_bytes;
    std::byte* const at = block_ + block_used();
    std::memcpy(at, encoded, whole);
    if (const int done = write_part(at, block_at(state_.end.block) + block_used(), whole); done != 0) return done;
    state_.end.check = crc32c({encoded + bytes, record_check_bytes}, sum);
    state_.end.used += static_cast<uint32_t>(whole);
    base_ = after;
    has_uncommitted_ = true;
    passed("record");
    return 0;
}

int index_writer::append_run(const run& what) {
    record written;
    written.what = what;
    return append(written);
}

/// All of the slot, then its sequence: what a process that is killed before that has added is not there.
int index_writer::publish() {
    constexpr size_t before_runs = offsetof(state_slot, pattern);
    constexpr size_t sequence_bytes = sizeof state_.sequence;
    ++state_.sequence;
    if (const uint16_t runs = runs_.count(); state_.runs != runs) state_.runs = runs;
    const size_t offset = state_slot_at(state_.sequence);
    std::byte* const slot = head_ + offset;
    const std::atomic_ref sequence(*reinterpret_cast<uint64_t*>(slot));
    sequence.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    passed("slot begun");
    const auto fields = bytes_of(state_).first<before_runs>();
    uint32_t check = crc32c(fields.first<sequence_bytes>(), salt_check_);
    check = copy_with_crc32c(slot + sequence_bytes, fields.subspan<sequence_bytes>(), check);
    check = copy_with_crc32c(slot + before_runs, std::as_bytes(runs_.open()), check);
    std::memcpy(slot + offsetof(state_slot, check), &check, sizeof check);
    passed("slot");
    sequence.store(state_.sequence, std::memory_order_release);
    passed("published");
    if (is_mapped_) [[likely]]
        return 0;
    if (const int done = write_part(slot, static_cast<int64_t>(offset), sizeof state_); done != 0) return done;
    published_ = {state_, base_, runs_};
    return 0;
}

int index_writer::add_write(int64_t start, int64_t length, int64_t physical, int64_t now_ns) {
    if (broken_ != 0) return broken_;
    run complete;
    if (runs_.add(start, length, physical, now_ns, complete)) {
        if (const int done = append_run(complete); done != 0) return done;
    }
    state_.logical_end = std::max(state_.logical_end, start + length);
    state_.data_bytes = physical + length;
    state_.written_bytes += static_cast<uint64_t>(length);
    ++state_.writes;
    has_uncommitted_ = true;
    return publish();
}

int index_writer::add(const record& what) {
    if (const int done = finish_runs(); done != 0) return done;
    if (const int done = append(what); done != 0) return done;
    note_change(what);
    return publish();
}

/// What a record that is no run does to the state.
void index_writer::note_change(const record& what) {
    const run& numbers = what.what;
    if (what.kind == record_kind::cut) {
        ++state_.cuts;
        state_.logical_end = numbers.start;
    }
    if (what.kind == record_kind::reach) state_.logical_end = std::max(state_.logical_end, numbers.start);
    if (what.kind == record_kind::epoch) state_.epoch_ns = numbers.first_ns;
}

int index_writer::add_check(int64_t bytes, uint32_t sum) {
    if (broken_ != 0) return broken_;
    record what;
    what.kind = record_kind::data_check;
    what.what.length = bytes;
    what.sum = sum;
    const int done = append(what);
    return done != 0 ? done : publish();
}

int index_writer::add_again(const record& what) {
    if (const int done = make_room(); done != 0) return done;
    if (const int done = append(what); done != 0) return done;
    const run& numbers = what.what;
    if (what.kind == record_kind::run) {
        state_.logical_end = std::max(state_.logical_end, numbers.high());
        state_.data_bytes = std::max(state_.data_bytes, numbers.physical_end());
        state_.written_bytes += static_cast<uint64_t>(numbers.bytes());
        state_.writes += static_cast<uint64_t>(numbers.count);
    }
    note_change(what);
    return publish();
}

int index_writer::finish_runs() {
    if (broken_ != 0) return broken_;
    run complete[2];
    const size_t count = runs_.finish(complete);
    for (size_t i = 0; i < count; ++i) {
        if (const int done = append_run(complete[i]); done != 0) return done;
    }
    return count > 0 ? publish() : 0;
}

int index_writer::commit(int64_t now_ns) {
    if (const int done = finish_runs(); done != 0) return done;
    if (!has_uncommitted_) return 0;
    commit_slot slot{};
    slot.sequence = state_.synced_commit + 1;
    slot.data_bytes = state_.data_bytes;
    slot.committed_ns = now_ns;
    slot.state_sequence = state_.sequence;
    slot.end = state_.end;
    slot.check = check_of(slot, salt_);
    const size_t offset = commit_slot_at(slot.sequence);
    const std::atomic_ref sequence(*reinterpret_cast<uint64_t*>(head_ + offset));
    sequence.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    std::memcpy(head_ + offset + sizeof slot.sequence, reinterpret_cast<const std::byte*>(&slot) + sizeof slot.sequence,
                sizeof slot - sizeof slot.sequence);
    passed("commit");
    sequence.store(slot.sequence, std::memory_order_release);
    passed("committed");
    if (const int done = write_part(head_ + offset, static_cast<int64_t>(offset), sizeof slot); done != 0) return done;
    // The commit may reach the disk before the records that it names: it counts when the state after the sync says so.
    if (const int done = calls_.sync(fd_); done != 0) return done;
    has_uncommitted_ = false;
    state_.synced_commit = slot.sequence;
    return publish();
}

int index_writer::rest() {
    if (const int done = make_room() == 0 ? finish_runs() : broken_; done != 0) return done;
    state_.is_closed = writer_rests;
    const int done = publish();
    state_.is_closed = 0;
    return done;
}

/// The state is written into both slots, so that damage to one of them loses nothing. Where there is no room for the
/// last runs among the records, they stay there.
int index_writer::close() {
    int done = make_room() == 0 ? finish_runs() : broken_;
    state_.is_closed = writer_ended;
    if (done == 0) done = publish();
    if (done == 0) done = publish();
    passed("closed");
    if (done == 0) done = calls_.set_size(fd_, file_bytes());
    // No mapping is left when the file is closed: for some file systems that is when others are sent what is in it.
    const int fd = std::exchange(fd_, -1);
    abandon();
    const int closed = calls_.close(fd);
    return done != 0 ? done : closed;
}

void index_writer::abandon() {
    if (is_mapped_) {
        if (head_ != nullptr) calls_.unmap(head_, block_bytes);
        if (window_ != nullptr) calls_.unmap(window_, window_bytes);
        if (next_window_ != nullptr) calls_.unmap(next_window_, window_bytes);
    } else {
        if (head_ != nullptr) calls_.return_pages(head_, block_bytes);
        if (window_ != nullptr) calls_.return_pages(window_, block_bytes);
    }
    head_ = window_ = next_window_ = block_ = nullptr;
    if (fd_ >= 0) calls_.close(fd_);
    fd_ = -1;
}

/// Nothing to do in a mapped file. What finds no room is as if it had not begun. What else cannot be written may be
/// there in part: nothing more is added behind it.
int index_writer::write_part(const std::byte* from, int64_t offset, size_t bytes) {
    if (is_mapped_) return 0;
    const int done = write_whole(calls_, fd_, {from, bytes}, offset);
    if (done == -ENOSPC || done == -EDQUOT)
        take_back();
    else if (done != 0)
        broken_ = done;
    return done;
}

/// What lies in the file behind the state that was published last is nobody's, and will be written over.
void index_writer::take_back() {
    state_ = published_.state;
    state_.is_closed = 0;
    base_ = published_.base;
    runs_ = published_.runs;
    has_uncommitted_ = has_taken_back_ = true;
}

/// That of the state, as far as its records go: the one in memory may go further, or be the next one.
int index_writer::read_block() {
    const size_t known = sizeof(block_header) + state_.end.used;
    std::memset(window_, 0, block_bytes);
    const int64_t bytes = read_whole(calls_, fd_, {window_, known}, block_at(state_.end.block));
    if (bytes != static_cast<int64_t>(known)) return bytes < 0 ? static_cast<int>(bytes) : -EIO;
    has_taken_back_ = false;
    return 0;
}

}  // namespace halcyon::logfs
