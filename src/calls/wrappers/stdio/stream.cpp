#include "calls/wrappers/stdio/stream.hpp"

#include <pthread.h>

#include <algorithm>

#include "calls/state/direct_call.hpp"
#include "calls/state/known_files.hpp"
#include "calls/wrappers/stdio/stream_slots.hpp"
#include "calls/wrappers/wrapper.hpp"

namespace halcyon::calls {
namespace {

int64_t at_least_zero(int64_t value) {
    return value < 0 ? 0 : value;
}

int64_t waiting_in(const FILE* stream) {
    return (stream->_flags & putting) != 0 ? stream->_IO_write_ptr - stream->_IO_write_base : 0;
}

// What ungetc gave back lies in a buffer of its own (_IO_IN_BACKUP), before what was read. (That of a wide stream keeps
// wide characters.)
bool is_in_backup(const FILE* stream) {
    constexpr int in_backup = 0x100;
    return (stream->_flags & in_backup) != 0 && stream->_mode <= 0;
}

int64_t left_in(const FILE* stream) {
    if ((stream->_flags & putting) != 0) return 0;
    const int64_t behind = is_in_backup(stream) ? stream->_IO_save_end - stream->_IO_save_base : 0;
    return stream->_IO_read_end - stream->_IO_read_ptr + behind;
}

/// Where what was read of the file ends; null while the buffer is for writing.
const char* end_of_read(const FILE* stream) {
    if ((stream->_flags & putting) != 0) return nullptr;
    return is_in_backup(stream) ? stream->_IO_save_end : stream->_IO_read_end;
}

/// A file of the C library's own (/etc/passwd). In static programs it reads them through our wrappers, and nobody sees
/// them opened and closed.
bool is_of_c_library([[maybe_unused]] const FILE* stream) {
#ifdef HALCYON_STATIC_IO
    constexpr int not_cancelled = 2;  // _IO_FLAGS2_NOTCANCEL, fopen's mode c: so it opens them
    return (stream->_flags2 & not_cancelled) != 0;
#else
    return false;
#endif
}

constexpr int no_reads = 0x4;  // _IO_NO_READS

/// How many bytes a seek to `target` read that are in no buffer: glibc goes to the block before, reads it, and when
/// that ends before the target, throws it away.
int64_t read_for_nothing(const FILE* stream, int fd, int64_t target) {
    const int64_t block = stream->_IO_buf_end - stream->_IO_buf_base;
    if (block <= 1 || (block & (block - 1)) != 0 || (stream->_flags & no_reads) != 0) return 0;
    const int64_t begin = target & ~(block - 1);
    struct stat now {};
    if (begin == target || direct::call(SYS_fstat, fd, direct::address(&now)) != 0 || !S_ISREG(now.st_mode)) return 0;
    const int64_t there = at_least_zero(now.st_size - begin);
    return there < target - begin ? there : 0;
}

// A thread that is cancelled within a call never comes to unlock the stream: what it held is unlocked when it ends.
// (Nothing here may throw, and cancellation passes functions without unwinding what they hold.)
constexpr int most_held = 4;  // calls within calls: the functions of fopencookie
constinit thread_local FILE* held_streams[most_held] __attribute__((tls_model("initial-exec"))) = {};
constinit thread_local int held_count __attribute__((tls_model("initial-exec"))) = 0;
constinit thread_local bool end_is_awaited __attribute__((tls_model("initial-exec"))) = false;
constinit std::atomic<pthread_key_t> at_thread_end{0};  // + 1; 0: not made yet

void unlock_all(void*) {
    while (held_count > 0) {
        --held_count;
        if (held_count < most_held) funlockfile(held_streams[held_count]);
    }
}

void await_end_of_thread() {
    end_is_awaited = true;
    pthread_key_t key = at_thread_end.load();
    if (key == 0) {
        pthread_key_t fresh = 0;
        if (pthread_key_create(&fresh, unlock_all) != 0) return;
        if (at_thread_end.compare_exchange_strong(key, fresh + 1))
            key = fresh + 1;
        else
            pthread_key_delete(fresh);
    }
    pthread_setspecific(key - 1, &end_is_awaited);
}

void lock(FILE* stream) {
    if (!end_is_awaited) [[unlikely]]
        await_end_of_thread();
    flockfile(stream);
    if (held_count < most_held) held_streams[held_count] = stream;
    ++held_count;
}

void unlock(FILE* stream) {
    if (held_count > 0) --held_count;
    funlockfile(stream);
}

}  // namespace

int fflush_of_library(FILE* stream) {
    return HALCYON_REAL(fflush, int, (FILE*))(stream);
}

FILE* fopen_of_library(const char* path, const char* mode) {
    return HALCYON_REAL(fopen, FILE*, (const char*, const char*))(path, mode);
}

FILE* freopen_of_library(const char* path, const char* mode, FILE* stream) {
    return HALCYON_REAL(freopen, FILE*, (const char*, const char*, FILE*))(path, mode, stream);
}

held_stream::held_stream(FILE* stream) : stream_(stream) {
    lock(stream);
}

held_stream::~held_stream() {
    unlock(stream_);
}

stream_transfer::~stream_transfer() {
    if (locked_) unlock(stream_);
}

bool stream_transfer::before(call_record& record, FILE* stream, bool locks) {
    if (stream == nullptr) return false;
    if (!is_of_file(stream) || is_of_c_library(stream)) return false;
    fd_ = stream->_fileno;
    file_ = descriptors::find(fd_);
    if (file_ == nullptr) return false;
    stream_ = stream;
    exact_ = stream_slots::answers(fd_);
    if (locks) {
        lock(stream);
        locked_ = true;
    }
    record.file = file_->file.load(std::memory_order_relaxed);
    look();
    if (is_wide_and_putting(stream)) ask_for_end();
    shared_ = file_->references.load(std::memory_order_relaxed) > 1;
    descriptors::position(fd_, *file_, false);  // where others share it: asked again
    return true;
}

void stream_transfer::look() {
    waiting_ = waiting_in(stream_);
    left_ = left_in(stream_);
    read_base_ = stream_->_IO_read_base;
    read_at_ = stream_->_IO_read_ptr;
    read_end_ = end_of_read(stream_);
    offset_ = stream_->_offset;
}

/// fopen's mode m: the stream's buffer is the file, mapped; nothing is transferred. (Where the file cannot be mapped,
/// the C library reads it into a buffer that it allocates.)
bool stream_transfer::is_mapped() const {
    constexpr int wants_map = 1;    // _IO_FLAGS2_MMAP
    constexpr int not_its_own = 1;  // _IO_USER_BUF: the C library did not allocate the buffer
    constexpr uintptr_t page = 4096;
    return (stream_->_flags2 & wants_map) != 0 && (stream_->_flags & not_its_own) != 0 &&
           reinterpret_cast<uintptr_t>(stream_->_IO_buf_base) % page == 0;
}

void stream_transfer::follow_position() {
    if (const int64_t now = direct::lseek(fd_, 0, SEEK_CUR); now >= 0)
        file_->position.store(now, std::memory_order_relaxed);
}

bool stream_transfer::before_unknown_read(call_record& record, FILE* stream) {
    if (!before(record, stream)) return false;
    descriptors::know_position(fd_, *file_);
    return true;
}

// The kernel is asked only where the buffer does not hold what is taken: otherwise nothing is transferred.
bool stream_transfer::before_known_read(call_record& record, FILE* stream, int64_t bytes) {
    if (!before(record, stream)) return false;
    if (bytes > left_) descriptors::know_position(fd_, *file_);
    return true;
}

bool stream_transfer::before_line_read(call_record& record, FILE* stream) {
    if (!before(record, stream)) return false;
    const auto held = stream->_IO_read_ptr < stream->_IO_read_end
                          ? static_cast<size_t>(stream->_IO_read_end - stream->_IO_read_ptr)
                          : 0;
    holds_line_ = held > 0 && std::memchr(stream->_IO_read_ptr, '\n', held) != nullptr;
    if (!holds_line_) descriptors::know_position(fd_, *file_);
    return true;
}

bool stream_transfer::before_uncounted(call_record& record, FILE* stream) {
    if (!before_unknown_read(record, stream)) return false;
    if (!is_wide_and_putting(stream)) ask_for_end();  // of the others, it was asked already
    return true;
}

void stream_transfer::ask_for_end() {
    struct stat now {};
    if (file_->appends.load(std::memory_order_relaxed) && direct::call(SYS_fstat, fd_, direct::address(&now)) == 0 &&
        S_ISREG(now.st_mode))
        end_ = now.st_size;
}

bool stream_transfer::is_unbuffered() const {
    constexpr int unbuffered = 0x2;  // _IO_UNBUFFERED
    return (stream_->_flags & unbuffered) != 0;
}

// The C library fills the buffer, and then writes it; of what is left, whole blocks go past the buffer.
expected stream_transfer::putting_moves(int64_t bytes) const {
    constexpr int line_by_line = 0x200;  // _IO_LINE_BUF
    if (bytes == 0) return expected::no;
    if (stream_->_mode > 0 || (stream_->_flags & line_by_line) != 0) return expected::not_known;
    if (is_unbuffered()) return expected::yes;
    if (stream_->_IO_buf_base == nullptr) return expected::not_known;  // its size is not decided
    const bool writing = (stream_->_flags & putting) != 0;
    // From reading to writing, it goes on in the buffer where it read last.
    const char* const from = writing ? stream_->_IO_write_ptr : stream_->_IO_read_ptr;
    const int64_t block = stream_->_IO_buf_end - stream_->_IO_buf_base;
    const int64_t room = from == stream_->_IO_buf_end && !writing ? block : stream_->_IO_buf_end - from;
    return bytes <= room && (writing || bytes < block) ? expected::no : expected::yes;
}

expected stream_transfer::putting_moves() const {
    return is_unbuffered() && stream_->_mode <= 0 ? expected::yes : expected::not_known;
}

// What waits to be written goes first.
expected stream_transfer::taking_moves(int64_t bytes) const {
    if (is_mapped() || bytes == 0) return expected::no;
    if (stream_->_mode > 0) return expected::not_known;
    return bytes <= left_ ? expected::no : expected::yes;
}

expected stream_transfer::taking_moves() const {
    if (is_mapped() || (holds_line_ && stream_->_mode <= 0)) return expected::no;
    return left_ == 0 && stream_->_mode <= 0 ? expected::yes : expected::not_known;
}

expected stream_transfer::flushing_moves() const {
    if (is_wide_and_putting(stream_)) return expected::not_known;
    return waiting_ > 0 ? expected::yes : expected::no;
}

bool stream_transfer::nothing_moved() const {
    // What waits to be written tells nothing: it may have been written, and as much come in again.
    return (stream_->_flags & putting) == 0 && waiting_ == 0 && stream_->_IO_read_base == read_base_ &&
           end_of_read(stream_) == read_end_ && stream_->_IO_read_ptr > read_at_;
}

void stream_transfer::report_transfer(const call_record& record, call_id function, int64_t offset, int64_t bytes) {
    call_record transfer = blank_record(function);
    transfer.start = record.start;
    transfer.duration = record.duration;
    transfer.offset = offset;
    transfer.bytes = transfer.moved = transfer.result = bytes;
    transfer.file = record.file;
    transfer.context = record.context;
    report(this_thread(), transfer);
}

void stream_transfer::wrote(const call_record& record, int64_t bytes) {
    if (bytes <= 0) return;
    int64_t offset = none;
    if (file_->appends.load(std::memory_order_relaxed)) {
        const int64_t end = direct::lseek(fd_, 0, SEEK_CUR);
        offset = end < bytes ? none : end - bytes;
        file_->position.store(end, std::memory_order_relaxed);
    } else if (file_->seekable.load(std::memory_order_relaxed)) {
        offset = file_->position.fetch_add(bytes, std::memory_order_relaxed);
    }
    report_transfer(record, call_id::stdio_write, offset, bytes);
}

void stream_transfer::did_read(const call_record& record, int64_t bytes) {
    if (bytes <= 0) return;
    const int64_t offset = file_->seekable.load(std::memory_order_relaxed)
                               ? file_->position.fetch_add(bytes, std::memory_order_relaxed)
                               : none;
    report_transfer(record, call_id::stdio_read, offset, bytes);
}

void stream_transfer::after(const call_record& record, int64_t put, int64_t taken) {
    if (exact_) return;
    if (is_mapped()) return follow_position();
    if (put == not_known || taken == not_known) {
        if (nothing_moved()) return;
        const int64_t now = direct::lseek(fd_, 0, SEEK_CUR);
        if (now < 0) return;
        const int64_t position = file_->position.load(std::memory_order_relaxed);
        const int64_t moved = now == position ? 0 : at_least_zero(now - std::max(position, end_));
        if (put == not_known)
            wrote(record, moved);
        else {
            wrote(record, waiting_);
            did_read(record, moved - waiting_);
        }
        file_->position.store(now, std::memory_order_relaxed);
        return;
    }
    wrote(record, at_least_zero(waiting_ + put - waiting_in(stream_)));
    // From reading to writing: glibc gives back what it read ahead, by moving the position.
    if (put > 0 && left_ > 0)
        file_->position.store(direct::lseek(fd_, 0, SEEK_CUR), std::memory_order_relaxed);
    else
        did_read(record, at_least_zero(left_in(stream_) + taken - left_));
}

void stream_transfer::after_seek(const call_record& record) {
    if (exact_) return;
    if (is_mapped()) return follow_position();
    wrote(record, at_least_zero(waiting_ - waiting_in(stream_)));
    const int64_t now = direct::lseek(fd_, 0, SEEK_CUR);
    if (now < 0) return;
    // A stream that does not know its position reads the block anew even where it has it. Of one that does, no two
    // blocks have the same position behind them and the same length.
    const bool refilled = stream_->_offset != offset_ || end_of_read(stream_) != read_end_;
    const int64_t held = (stream_->_flags & putting) != 0 ? 0 : stream_->_IO_read_end - stream_->_IO_read_base;
    if (refilled && held > 0 && held <= now) {
        file_->position.store(now - held, std::memory_order_relaxed);
        did_read(record, held);
    } else if (const int64_t unkept = refilled && held == 0 ? read_for_nothing(stream_, fd_, now) : 0; unkept > 0) {
        const int64_t block = stream_->_IO_buf_end - stream_->_IO_buf_base;
        file_->position.store(now & ~(block - 1), std::memory_order_relaxed);
        did_read(record, unkept);
    }
    file_->position.store(now, std::memory_order_relaxed);
}

void stream_transfer::after_flush(const call_record& record) {
    if (exact_) return;
    if (is_mapped()) return follow_position();
    const int64_t now = direct::lseek(fd_, 0, SEEK_CUR);
    const bool counted = stream_->_mode <= 0 || now < 0;
    const int64_t moved = counted ? waiting_ - waiting_in(stream_)
                                  : now - std::max(file_->position.load(std::memory_order_relaxed), end_);
    wrote(record, at_least_zero(moved));
    if (now >= 0) file_->position.store(now, std::memory_order_relaxed);
}

void stream_transfer::flush(const call_record& record) {
    if (exact_) return;  // it is seen in any case
    call_record caused = record;
    caused.start = ticks();
    if (fflush_of_library(stream_) != 0) return;
    caused.duration = ticks() - caused.start;
    after_flush(caused);
    look();
}

void stream_transfer::flush_wide(const call_record& record) {
    if (is_wide_and_putting(stream_)) flush(record);
}

void stream_transfer::after_close(const call_record& record, bool closed) {
    if (!closed) return;
    // Unless other descriptors stand for it, the description may be another's by now; its numbers of before are known.
    const int64_t position = file_->position.load(std::memory_order_relaxed);
    if (shared_) file_->unseen_moves.store(UINT32_MAX, std::memory_order_relaxed);  // asked from now on
    if (waiting_ <= 0 || exact_) return;
    const bool appended = file_->appends.load(std::memory_order_relaxed);
    report_transfer(record, call_id::stdio_write, appended ? none : position, waiting_);
}

}  // namespace halcyon::calls
