#include "observe/trace/record_buffer.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>

#define ZSTD_STATIC_LINKING_ONLY  // contexts in memory of ours: nothing may allocate here
#include <zstd.h>

#include "base/clock.hpp"
#include "calls/descriptors.hpp"
#include "calls/direct_call.hpp"
#include "calls/process_state.hpp"
#include "calls/ticks.hpp"
#include "observe/trace/chunk_coding.hpp"

namespace halcyon::observe::trace {
namespace direct = calls::direct;
using calls::call_record;

namespace {

constexpr uint32_t chunk_records = 4096;
constexpr size_t chunk_bytes = chunk_records * sizeof(call_record);
constexpr uint64_t slot_mask = 0xFFFFFFFF;
constexpr uint64_t no_more_slots = 0x80000000;
// Soon after the start, then less and less often, to some tenths of a second.
constexpr int64_t first_anchor_after = 1'000'000;
constexpr int64_t last_anchor_after = 1'000'000'000;
constexpr int compression_level = 1;
constexpr int last_compression_level = 9;  // once, at the end: most processes are short, and their trace is that alone

constexpr size_t page = 4096;
constexpr size_t chunk_at(uint32_t chunk) { return ring_chunks_at + chunk * ((chunk_bytes + page - 1) / page * page); }

// One chunk is coded at a time, so that one set of these is enough. Untouched until the first.
alignas(64) uint64_t scratch[2 * chunk_records];
unsigned char column_planes[largest_planes(chunk_records)];
unsigned char coded[sizeof(chunk_section) + ZSTD_COMPRESSBOUND(sizeof column_planes)];

// zstd's working memory: what level 1 wants for inputs of this size.
constexpr size_t workspace_bytes = 1 << 20;
alignas(64) char workspace[workspace_bytes];

/// Puts `section` and then `plain`, compressed, into `coded`; returns how many bytes, 0 when it failed.
size_t compress(std::string_view section, const void* plain, size_t bytes, int level) {
    std::memcpy(coded, section.data(), section.size());
    for (;; level = compression_level) {
        // A fresh context each time: cheap, and right in a forked child whatever its parent was doing.
        ZSTD_CCtx* context = ZSTD_initStaticCCtx(workspace, sizeof workspace);
        if (context == nullptr) return 0;
        const size_t result = ZSTD_compressCCtx(context, coded + section.size(), sizeof coded - section.size(), plain,
                                                bytes, level);
        if (ZSTD_isError(result) == 0U) return section.size() + result;
        if (level == compression_level) return 0;  // else the input is too large for the level's tables to fit
    }
}

class spin_lock_held {
  public:
    explicit spin_lock_held(std::atomic<uint32_t>& lock) : lock_(lock) {
        while (lock_.exchange(1, std::memory_order_acquire) != 0) direct::yield();
    }
    ~spin_lock_held() { lock_.store(0, std::memory_order_release); }
    spin_lock_held(const spin_lock_held&) = delete;
    spin_lock_held& operator=(const spin_lock_held&) = delete;

  private:
    std::atomic<uint32_t>& lock_;
};

std::string_view coded_bytes(size_t bytes) { return {reinterpret_cast<const char*>(coded), bytes}; }

}  // namespace

anchor anchor_now() { return {calls::ticks(), monotonic_ns(), realtime_ns()}; }

call_record* record_buffer::slots_of(uint32_t chunk) const {
    return reinterpret_cast<call_record*>(mapping_ + chunk_at(chunk));
}

bool record_buffer::create(const char* path, size_t bytes, trace_file& out, uint32_t time_unit, int& error) {
    uint32_t count = static_cast<uint32_t>(bytes / chunk_bytes);
    count = count < 2 ? 2 : count > ring_header::most_chunks ? ring_header::most_chunks : count;
    mapping_bytes_ = chunk_at(count);
    fd_ = open_out_of_the_way(path, O_RDWR | O_CREAT | O_EXCL);
    error = fd_ < 0 ? -fd_ : 0;
    if (fd_ < 0) return false;
    calls::descriptors::own(fd_);
    std::strncpy(path_, path, sizeof path_ - 1);
    long mapped = direct::call(SYS_ftruncate, fd_, static_cast<long>(mapping_bytes_));
    // Blocks first: a store into a page that the disk has no room for would end the application.
    if (mapped == 0) mapped = direct::fallocate(fd_, 0, ring_chunks_at);
    if (mapped == 0) {
        mapped = direct::call(SYS_mmap, 0, static_cast<long>(mapping_bytes_), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    }
    if (mapped < 0 && mapped > -4096) {
        error = static_cast<int>(-mapped);
        direct::unlink(path_);
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
    time_unit_ = time_unit;
    allocated_ = 0;
    uint32_t first = 0;
    if (!open_chunk(first)) {
        error = ENOSPC;
        return false;
    }
    next_ = uint64_t{first} << 32;
    return true;
}

void record_buffer::abandon() {
    // The mapping is the parent's file; its descriptors were duplicated by fork.
    if (mapping_ != nullptr) direct::call(SYS_munmap, direct::address(mapping_), static_cast<long>(mapping_bytes_));
    if (fd_ >= 0) {
        calls::descriptors::disown(fd_);
        direct::close(fd_);
    }
    header_ = nullptr;
    mapping_ = nullptr;
    fd_ = -1;
    direct_ = false;
    last_sequence_ = 0;
    lost_ = 0;
    note_lock_ = 0;
    coding_lock_ = 0;
    coder_ = 0;
    work_ = 0;
}

/// Takes the lowest unused chunk. Only one thread at a time does so: the one that replaces the open chunk.
bool record_buffer::open_chunk(uint32_t& chunk) {
    for (uint32_t i = 0; i < header_->chunk_count; ++i) {
        auto& entry = header_->chunks[i];
        if (entry.state.load(std::memory_order_acquire) != ring_header::unused) continue;
        if (i >= allocated_) {
            if (direct::fallocate(fd_, static_cast<int64_t>(chunk_at(i)), chunk_bytes) != 0) return false;
            allocated_ = i + 1;
        }
        entry.sequence.store(last_sequence_.fetch_add(1) + 1, std::memory_order_relaxed);
        entry.state.store(ring_header::open, std::memory_order_release);
        chunk = i;
        return true;
    }
    return false;
}

void record_buffer::append(const call_record& record) {
    if (direct_.load(std::memory_order_relaxed)) [[unlikely]] {
        const spin_lock_held held(coding_lock_);
        return write_chunk(&record, 1, last_sequence_.fetch_add(1) + 1);
    }
    if (out_->failed()) [[unlikely]] {
        lost_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    if (record.start > next_anchor_) [[unlikely]] refresh_anchor();
    for (;;) {
        const uint64_t taken = next_.fetch_add(1, std::memory_order_acq_rel);
        const auto slot = static_cast<uint32_t>(taken & slot_mask);
        if (slot < chunk_records) [[likely]] {
            call_record& to = slots_of(static_cast<uint32_t>(taken >> 32))[slot];
            std::memcpy(reinterpret_cast<char*>(&to) + sizeof to.start,
                        reinterpret_cast<const char*>(&record) + sizeof record.start, sizeof to - sizeof to.start);
            std::atomic_ref(to.start).store(record.start, std::memory_order_release);
            return;
        }
        if (slot == chunk_records) replace_open_chunk(taken);
        while ((next_.load(std::memory_order_acquire) & slot_mask) > chunk_records) {
            if (out_->failed() || direct_.load(std::memory_order_relaxed)) break;
            direct::yield();
        }
        if (direct_.load(std::memory_order_relaxed)) return append(record);
        if (out_->failed()) {
            lost_.fetch_add(1, std::memory_order_relaxed);
            return;
        }
    }
}

void record_buffer::refresh_anchor() {
    header_->last = anchor_now();
    if (anchor_after_ < last_anchor_after) anchor_after_ *= 2;
    next_anchor_ = header_->last.ticks + anchor_after_;
}

/// The thread that took the slot after the last one does this; all others wait until it is done.
void record_buffer::replace_open_chunk(uint64_t seen) {
    header_->chunks[seen >> 32].state.store(ring_header::closed, std::memory_order_release);
    uint32_t fresh = 0;
    wake_coder();
    while (!open_chunk(fresh)) {
        if (out_->failed()) return;
        if (!code_next()) direct::yield();  // all are full: this thread lends a hand
    }
    next_.store(uint64_t{fresh} << 32, std::memory_order_release);
}

/// Codes the oldest closed chunk. False when there is none, or another thread is at it.
bool record_buffer::code_next() {
    if (coding_lock_.exchange(1, std::memory_order_acquire) != 0) return false;
    uint32_t oldest = ring_header::most_chunks;
    for (uint32_t i = 0; i < header_->chunk_count; ++i) {
        if (header_->chunks[i].state.load(std::memory_order_acquire) != ring_header::closed) continue;
        if (oldest == ring_header::most_chunks ||
            header_->chunks[i].sequence.load(std::memory_order_relaxed) <
                header_->chunks[oldest].sequence.load(std::memory_order_relaxed)) {
            oldest = i;
        }
    }
    if (oldest != ring_header::most_chunks) code(oldest, chunk_records);
    coding_lock_.store(0, std::memory_order_release);
    return oldest != ring_header::most_chunks;
}

void record_buffer::code(uint32_t chunk, uint32_t count) {
    call_record* slots = slots_of(chunk);
    // A slot may be taken and not written yet, by a thread that lost its core in between.
    constexpr int patience = 10'000;
    uint32_t whole = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const std::atomic_ref<int64_t> start(slots[i].start);
        for (int tries = 0; start.load(std::memory_order_acquire) == 0 && tries < patience; ++tries) direct::yield();
        if (slots[i].start == 0) continue;
        if (whole != i) slots[whole] = slots[i];
        ++whole;
    }
    lost_.fetch_add(count - whole, std::memory_order_relaxed);
    write_chunk(slots, whole, header_->chunks[chunk].sequence.load(std::memory_order_relaxed));
    for (uint32_t i = 0; i < count; ++i) slots[i].start = 0;
    header_->chunks[chunk].state.store(ring_header::unused, std::memory_order_release);
}

void record_buffer::write_chunk(const call_record* records, uint32_t count, uint64_t sequence) {
    if (count == 0) return;
    const size_t bytes = encode_columns({records, count}, time_unit_, scratch, column_planes);
    const chunk_section section{count, static_cast<uint32_t>(bytes), sequence, anchor_now()};
    const size_t compressed = compress(bytes_of(section), column_planes, bytes, level());
    if (compressed == 0 || !out_->append(section_kind::chunk, coded_bytes(compressed))) {
        lost_.fetch_add(count, std::memory_order_relaxed);
    }
}

int record_buffer::level() const {
    return direct_.load(std::memory_order_relaxed) ? last_compression_level : compression_level;
}

/// Under the note lock.
void record_buffer::write_notes() {
    if (notes_.used() == 0) return;
    {
        const spin_lock_held held(coding_lock_);
        const notes_section section{static_cast<uint32_t>(notes_.used()), 0};
        const size_t compressed = compress(bytes_of(section), mapping_ + ring_header_bytes, notes_.used(), level());
        if (compressed > 0) out_->append(section_kind::notes, coded_bytes(compressed));
    }
    header_->note_bytes.store(0, std::memory_order_release);
    notes_.begin(mapping_ + ring_header_bytes, ring_note_bytes);
}

template <class Add>
void record_buffer::add_note(Add add) {
    if (header_ == nullptr || out_->failed()) return;
    const spin_lock_held held(note_lock_);
    if (!add()) {
        write_notes();
        add();
    }
    header_->note_bytes.store(static_cast<uint32_t>(notes_.used()), std::memory_order_release);
    if (direct_.load(std::memory_order_relaxed)) write_notes();
}

void record_buffer::note(note_kind kind, std::string_view section, std::string_view text) {
    add_note([&] { return notes_.add(kind, section, text); });
}

void record_buffer::note_file(const file_section& file, std::string_view path) {
    add_note([&] { return notes_.add_file(file, path); });
}

void record_buffer::flush(bool last) {
    if (header_ == nullptr || direct_.load(std::memory_order_relaxed)) return;
    // Full chunks first, so that a fresh one can be had.
    while (code_next()) continue;
    uint32_t fresh = 0;
    if (last) direct_.store(true, std::memory_order_release);
    else if (!open_chunk(fresh)) return;
    const uint64_t seen = next_.exchange(last ? no_more_slots : uint64_t{fresh} << 32, std::memory_order_acq_rel);
    const auto used = static_cast<uint32_t>(seen & slot_mask);
    const auto chunk = static_cast<uint32_t>(seen >> 32);
    {
        const spin_lock_held held(coding_lock_);
        code(chunk, used < chunk_records ? used : chunk_records);
    }
    while (last && code_next()) continue;
    {
        const spin_lock_held held(note_lock_);
        write_notes();
    }
    if (last && !out_->failed()) direct::unlink(path_);
}

void record_buffer::wake_coder() {
    uint32_t expected = 0;
    if (coder_.compare_exchange_strong(expected, 1)) {
        // All signals are the application's: none may be delivered to our thread.
        sigset_t all;
        sigset_t before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        pthread_attr_t small;
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 256 * 1024);
        pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
        pthread_t thread;
        if (pthread_create(&thread, &small, coder_main, this) != 0) coder_ = 2;
        pthread_attr_destroy(&small);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    if (coder_.load(std::memory_order_relaxed) == 2) {
        code_next();
        return;
    }
    work_.fetch_add(1, std::memory_order_release);
    direct::call(SYS_futex, direct::address(&work_), FUTEX_WAKE_PRIVATE, 1);
}

void* record_buffer::coder_main(void* opaque) {
    auto& buffer = *static_cast<record_buffer*>(opaque);
    const calls::own_work ours;
    for (;;) {
        const uint32_t seen = buffer.work_.load(std::memory_order_acquire);
        while (buffer.code_next()) continue;
        direct::call(SYS_futex, direct::address(&buffer.work_), FUTEX_WAIT_PRIVATE, seen);
    }
}

}  // namespace halcyon::observe::trace
