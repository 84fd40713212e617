#include "observe/trace/record_buffer.hpp"

#include "base/clock.hpp"
#include "calls/clocks/ticks.hpp"
#include "calls/state/descriptors.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/patience.hpp"
#include "calls/state/process_state.hpp"

namespace halcyon::observe::trace {
namespace direct = calls::direct;
using calls::call_record;

namespace {

constexpr uint64_t slot_mask = 0xFFFFFFFF;
constexpr uint64_t no_more_slots = 0x80000000;
// Soon after the start, then less and less often, to some tenths of a second.
constexpr int64_t first_anchor_after = 1'000'000;
constexpr int64_t last_anchor_after = 1'000'000'000;

/// `start` last. A handler that jumps away in between leaves the slot as `abandoned` (calls::leave_calls).
void fill(calls::thread_state& thread, call_record& slot, const call_record& record) {
    thread.unfinished.store(&slot.start, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::memcpy(reinterpret_cast<char*>(&slot) + sizeof slot.start,
                reinterpret_cast<const char*>(&record) + sizeof record.start, sizeof slot - sizeof slot.start);
    std::atomic_ref(slot.start).store(record.start, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread.unfinished.store(nullptr, std::memory_order_relaxed);
}

}  // namespace

bool record_buffer::create(const char* path, size_t bytes, trace_file& out, uint32_t time_unit, int& error) {
    uint32_t count = static_cast<uint32_t>(bytes / chunk_bytes);
    count = count < 2 ? 2 : count > ring_header::most_chunks ? ring_header::most_chunks : count;
    mapping_bytes_ = chunk_at(count);
    fd_ = calls::descriptors::open_out_of_the_way(path, O_RDWR | O_CREAT | O_EXCL);
    error = fd_ < 0 ? -fd_ : 0;
    if (fd_ < 0) return false;
    calls::descriptors::own(fd_);
    std::strncpy(path_, path, sizeof path_ - 1);
    long mapped = direct::call(SYS_ftruncate, fd_, static_cast<long>(mapping_bytes_));
    // Blocks first: a store into a page that the disk has no room for would end the application.
    if (mapped == 0 && !give_blocks(0, ring_chunks_at)) mapped = -ENOSPC;
    if (mapped == 0) {
        mapped =
            direct::call(SYS_mmap, 0, static_cast<long>(mapping_bytes_), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    }
    if (mapped < 0 && mapped > -4096) {
        error = static_cast<int>(-mapped);
        direct::unlink(path_);
        calls::descriptors::close_own(fd_);
        return false;
    }
    mapping_ = reinterpret_cast<char*>(mapped);
    header_ = reinterpret_cast<ring_header*>(mapping_);
    std::memcpy(header_->magic, ring_magic, sizeof header_->magic);
    header_->version = format_version;
    header_->byte_order = byte_order_mark;
    header_->record_bytes = sizeof(call_record);
    header_->chunk_records = chunk_records;
    header_->chunk_count = count;
    header_->last = anchor_now();
    anchor_after_ = first_anchor_after;
    next_anchor_ = header_->last.ticks + anchor_after_;
    notes_.begin(mapping_ + ring_header_bytes, ring_note_bytes);
    out_ = &out;
    coding_.begin({header_, mapping_}, out, time_unit);
    allocated_ = 0;
    uint32_t first = 0;
    if (!open_chunk(first)) {
        error = ENOSPC;
        direct::unlink(path_);
        return false;
    }
    next_ = uint64_t{first} << 32;
    return true;
}

void record_buffer::abandon() {
    // The mapping is the parent's file; its descriptors were duplicated by fork.
    if (mapping_ != nullptr) direct::call(SYS_munmap, direct::address(mapping_), static_cast<long>(mapping_bytes_));
    if (fd_ >= 0) calls::descriptors::close_own(fd_);
    header_ = nullptr;
    mapping_ = nullptr;
    fd_ = -1;
    lost_ = 0;
    note_lock_ = 0;
    coding_.forget();
    coder_.forget();
}

void record_buffer::leave_parent() {
    if (header_ != nullptr) {
        forget_parent();
        parent_ = header_;
        direct::call(SYS_munmap, direct::address(mapping_ + ring_header_bytes),
                     static_cast<long>(mapping_bytes_ - ring_header_bytes));
        mapping_ = nullptr;
    }
    abandon();
}

void record_buffer::forget_parent() {
    if (parent_ != nullptr) direct::call(SYS_munmap, direct::address(parent_), ring_header_bytes);
    parent_ = nullptr;
}

void record_buffer::tell_parent() {
    if (parent_ != nullptr) parent_->shut_out.fetch_add(1, std::memory_order_relaxed);
}

uint32_t record_buffer::take_shut_out() {
    return header_ == nullptr ? 0 : header_->shut_out.exchange(0, std::memory_order_relaxed);
}

// The application may have closed or replaced it, by system calls of its own.
int record_buffer::descriptor() {
    if (calls::descriptors::is_own(fd_)) return fd_;
    calls::descriptors::disown(fd_);
    fd_ = calls::descriptors::open_out_of_the_way(path_, O_RDWR);
    if (fd_ >= 0) calls::descriptors::own(fd_);
    return fd_;
}

/// Blocks of the disk for a part of the file that was never written.
bool record_buffer::give_blocks(int64_t offset, int64_t bytes) {
    const int fd = descriptor();
    const int given = direct::fallocate(fd, offset, bytes);
    if (given != -EOPNOTSUPP && given != -ENOSYS) return given == 0;
    static constexpr char zeros[ring_page] = {};  // NFS and some parallel file systems: by writing
    for (int64_t done = 0; done < bytes; done += ring_page) {
        if (direct::pwrite(fd, zeros, ring_page, offset + done) != static_cast<ssize_t>(ring_page)) return false;
    }
    return true;
}

/// Takes the lowest unused chunk.
bool record_buffer::open_chunk(uint32_t& chunk) {
    for (uint32_t i = 0; i < header_->chunk_count; ++i) {
        auto& entry = header_->chunks[i];
        if (i >= allocated_.load(std::memory_order_acquire)) {
            if (!give_blocks(static_cast<int64_t>(chunk_at(i)), ring_chunk_bytes)) return false;
            allocated_.store(i + 1, std::memory_order_release);
        }
        uint32_t unused = ring_header::unused;
        if (!entry.state.compare_exchange_strong(unused, ring_header::open, std::memory_order_acq_rel)) continue;
        entry.sequence.store(coding_.next_sequence(), std::memory_order_relaxed);
        chunk = i;
        return true;
    }
    return false;
}

void record_buffer::append(const call_record& record) {
    if (coding_.is_ending()) [[unlikely]]
        return append_to_trace(record);
    if (out_->failed()) [[unlikely]]
        return count_lost(1);
    if (record.start > next_anchor_) [[unlikely]]
        refresh_anchor();
    calls::thread_state& thread = calls::this_thread();
    for (;;) {
        // Where the slot is, is found out before it is taken: a handler that jumps away in between the two leaves a
        // slot that nobody knows to be abandoned, and a chunk that is held until the end.
        const uint64_t expected = next_.load(std::memory_order_relaxed);
        call_record* place = slot_at(expected);
        __asm__ volatile("" : "+r"(place));
        const uint64_t taken = next_.fetch_add(1, std::memory_order_acq_rel);
        if (taken != expected) [[unlikely]]
            place = slot_at(taken);
        const auto slot = static_cast<uint32_t>(taken & slot_mask);
        if (slot < chunk_records) [[likely]]
            return fill(thread, *place, record);
        if (!await_chunk(static_cast<uint32_t>(taken >> 32), slot == chunk_records)) return append_to_trace(record);
        if (coding_.is_ending()) return append(record);
        if (out_->failed()) return count_lost(1);
    }
}

call_record* record_buffer::slot_at(uint64_t taken) const {
    return ring{header_, mapping_}.slots_of(static_cast<uint32_t>(taken >> 32)) + (taken & slot_mask);
}

/// Past the chunks: after the end, and where all of them are held for threads that were stopped.
void record_buffer::append_to_trace(const call_record& record) {
    const calls::blocked_signals whole;
    if (!coding_.lock()) return count_lost(1);
    if (!coding_.write(record)) count_lost(1);
    coding_.unlock();
}

/// After a slot was asked for of a full chunk. The thread that took the slot after the last one closes and replaces the
/// chunk, all others wait until it is done; it is replaced by any of them when it does not get on. False when there is
/// no other chunk to be had.
bool record_buffer::await_chunk(uint32_t full, bool is_first) {
    const calls::blocked_signals whole;
    if (is_first) {
        header_->chunks[full].state.store(ring_header::closed, std::memory_order_release);
        wake_coder();
    }
    calls::patience wait(waits_in_vain_);
    bool mine = is_first;
    while ((next_.load(std::memory_order_acquire) & slot_mask) >= chunk_records) {
        if (out_->failed() || coding_.is_ending()) break;
        if (mine && replace_chunk(full)) break;
        if (wait.wait()) continue;
        if (mine) return false;
        mine = true;
    }
    return true;
}

/// Counted in the ring, too: a trace that cannot be written cannot tell.
void record_buffer::count_lost(uint32_t calls) {
    lost_.fetch_add(calls, std::memory_order_relaxed);
    if (header_ != nullptr) header_->lost.fetch_add(calls, std::memory_order_relaxed);
}

void record_buffer::refresh_anchor() {
    header_->last = anchor_now();
    if (anchor_after_ < last_anchor_after) anchor_after_ *= 2;
    next_anchor_ = header_->last.ticks + anchor_after_;
}

/// Opens another chunk instead of the full one. False when none can be had now: this thread then has lent a hand.
bool record_buffer::replace_chunk(uint32_t full) {
    uint32_t fresh = 0;
    if (!open_chunk(fresh)) {
        coding_.code_next();
        return false;
    }
    uint64_t seen = next_.load(std::memory_order_acquire);
    while (seen >> 32 == full && (seen & slot_mask) >= chunk_records && (seen & no_more_slots) == 0) {
        if (next_.compare_exchange_weak(seen, uint64_t{fresh} << 32, std::memory_order_acq_rel)) return true;
    }
    header_->chunks[fresh].state.store(ring_header::unused, std::memory_order_release);  // another thread was faster
    return true;
}

/// Under the note lock. What cannot be written stays.
bool record_buffer::write_notes() {
    if (notes_.used() == 0) return true;
    if (!coding_.lock()) return false;
    const bool written = coding_.write_notes({mapping_ + ring_header_bytes, notes_.used()});
    coding_.unlock();
    if (!written) return false;
    header_->note_bytes.store(0, std::memory_order_release);
    notes_.begin(mapping_ + ring_header_bytes, ring_note_bytes);
    return true;
}

/// Another thread holds the lock for a copy, or a compression, at most; one that was stopped there is not waited for.
bool record_buffer::lock_notes() {
    calls::patience wait(waits_in_vain_);
    while (note_lock_.exchange(1, std::memory_order_acquire) != 0) {
        if (!wait.wait()) return false;
    }
    return true;
}

void record_buffer::unlock_notes() {
    note_lock_.store(0, std::memory_order_release);
}

bool record_buffer::flush_notes() {
    if (!lock_notes()) return false;
    const bool written = write_notes();
    unlock_notes();
    return written;
}

bool record_buffer::note(note_kind kind, std::string_view section, std::string_view text) {
    return add_note([&] { return notes_.add(kind, section, text); });
}

bool record_buffer::note_file(const file_section& file, std::string_view path) {
    return add_note([&] { return notes_.add_file(file, path); });
}

void record_buffer::flush() {
    const calls::blocked_signals whole;
    if (header_ == nullptr || coding_.is_ending()) return;
    while (coding_.code_next()) continue;
    coding_.end();
    const uint64_t seen = next_.exchange(no_more_slots, std::memory_order_acq_rel);
    const auto used = static_cast<uint32_t>(seen & slot_mask);
    const auto current = static_cast<uint32_t>(seen >> 32);
    if (!coding_.lock()) return;
    bool all = true;
    uint32_t missing = 0;
    for (uint32_t i = 0; i < header_->chunk_count; ++i) {
        // Of those that are open and not current, one is full, if the thread that is to close it did not get to it; the
        // others were opened by threads that lost their core, and are empty.
        const bool open = header_->chunks[i].state.load(std::memory_order_acquire) == ring_header::open;
        const bool empty = open && i != current && !coding_.has_records(i);
        const uint32_t taken = i == current && used < chunk_records ? used : empty ? 0 : chunk_records;
        all = coding_.code_last(i, taken, missing) && all;
    }
    coding_.unlock();
    if (missing > 0) count_lost(missing);
    if (all && flush_notes() && !out_->failed()) direct::unlink(path_);
}

void record_buffer::note_end(uint32_t how) {
    if (header_ == nullptr) return;
    header_->last = anchor_now();
    header_->ended = how + 1;
}

void record_buffer::wake_coder() {
    if (coder_.start(code_all, this) == calls::own_thread::answer::refused) coding_.code_next();
}

void record_buffer::code_all(void* opaque) {
    auto& buffer = *static_cast<record_buffer*>(opaque);
    while (buffer.coding_.code_next()) continue;
}

}  // namespace halcyon::observe::trace
