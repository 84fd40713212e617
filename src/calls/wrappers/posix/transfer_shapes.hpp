#pragma once

#include <aio.h>
#include <sys/uio.h>

#include <climits>

#include "calls/backends/backend_files.hpp"
#include "calls/wrappers/posix/name_shapes.hpp"

/// As name_shapes.hpp: functions that read, write and copy.
namespace halcyon::calls::shapes {

// --- data ---

/// The next transfer of a descriptor, wherever its position is.
inline bool before_next(call_record& record, int fd, bool writes) {
    open_file* file = descriptors::find(fd);
    if (file == nullptr) return false;
    record.file = file->file.load(std::memory_order_relaxed);
    record.offset = descriptors::position(fd, *file, writes);
    return true;
}

inline void after_next(call_record& record, ssize_t result, int fd) {
    if (result < 0) return;
    record.moved = result;
    open_file* file = descriptors::find(fd);
    if (file == nullptr) return;
    if (record.offset == none &&
        file->seekable.load(std::memory_order_relaxed)) {  // it went to the end, wherever that was
        const int64_t end = direct::lseek(fd, 0, SEEK_CUR);
        record.offset = end - result;
        file->position.store(end, std::memory_order_relaxed);
    } else {
        file->position.fetch_add(result, std::memory_order_relaxed);
    }
}

/// none of pieces that the kernel will refuse to look at.
inline int64_t sum_of(const iovec* pieces, int count) {
    if (count < 0 || count > IOV_MAX || !given::is_readable(pieces, static_cast<size_t>(count) * sizeof *pieces))
        return none;
    int64_t sum = 0;
    for (int i = 0; i < count; ++i) sum += static_cast<int64_t>(pieces[i].iov_len);
    return sum;
}

struct read_next {
    template <class... Rest>
    static bool before(call_record& record, int fd, const void*, size_t bytes, const Rest&...) {
        record.bytes = static_cast<int64_t>(bytes);
        return before_next(record, fd, false);
    }
    template <class... Rest>
    static void after(call_record& record, ssize_t result, int fd, const Rest&...) {
        after_next(record, result, fd);
    }
};

struct write_next : read_next {
    static bool before(call_record& record, int fd, const void*, size_t bytes) {
        record.bytes = static_cast<int64_t>(bytes);
        return before_next(record, fd, true);
    }
};

struct read_pieces : read_next {
    static bool before(call_record& record, int fd, const iovec* pieces, int count) {
        record.bytes = sum_of(pieces, count);
        record.argument = count;
        return before_next(record, fd, false);
    }
};

struct write_pieces : read_next {
    static bool before(call_record& record, int fd, const iovec* pieces, int count) {
        record.bytes = sum_of(pieces, count);
        record.argument = count;
        return before_next(record, fd, true);
    }
};

inline void set_moved(call_record& record, ssize_t result) {
    if (result >= 0) record.moved = result;
}

/// Linux appends what is written at an offset through a descriptor with O_APPEND: then it is at the end. Apart: few
/// calls come here.
[[gnu::noinline]] inline void correct_appended(call_record& record, int fd) {
    if (record.moved <= 0 || entry_of(record.function).does != kind::write) return;
    if (backends::present()) [[unlikely]] {
        if (const int64_t size = backends::size_of(fd); size != none) {
            record.offset = size - record.moved;
            return;
        }
    }
    struct stat now {};
    record.offset = direct::call(SYS_fstat, fd, direct::address(&now)) == 0 ? now.st_size - record.moved : none;
}

class transfer_at {
  public:
    static constexpr bool completes_record_only = true;
    template <class... Rest>
    bool before(call_record& record, int fd, const void*, size_t bytes, off_t offset, const Rest&...) {
        record.bytes = static_cast<int64_t>(bytes);
        record.offset = offset;
        return find_file(record, fd);
    }
    template <class... Rest>
    void after(call_record& record, ssize_t result, int fd, const Rest&...) const {
        set_moved(record, result);
        if (file_->appends.load(std::memory_order_relaxed)) [[unlikely]]
            correct_appended(record, fd);
    }

  protected:
    bool find_file(call_record& record, int fd) {
        file_ = descriptors::find(fd);
        if (file_ == nullptr) return false;
        record.file = file_->file.load(std::memory_order_relaxed);
        return true;
    }

  private:
    const open_file* file_ = nullptr;  // of a call that is seen; still one when its descriptor is closed meanwhile
};

struct pieces_at : transfer_at {
    bool before(call_record& record, int fd, const iovec* pieces, int count, off_t offset) {
        record.bytes = sum_of(pieces, count);
        record.argument = count;
        record.offset = offset;
        return find_file(record, fd);
    }
};

/// Offset -1 means the descriptor's position.
struct read_pieces_at_or_next {
    pieces_at at;
    static bool may_block(int, const iovec*, int, off_t, int flags) { return (flags & RWF_NOWAIT) == 0; }
    bool before(call_record& record, int fd, const iovec* pieces, int count, off_t offset, int) {
        return offset == -1 ? read_pieces::before(record, fd, pieces, count)
                            : at.before(record, fd, pieces, count, offset);
    }
    void after(call_record& record, ssize_t result, int fd, const iovec*, int, off_t offset, int) const {
        if (offset == -1) return after_next(record, result, fd);
        at.after(record, result, fd);
    }
};

struct write_pieces_at_or_next : read_pieces_at_or_next {
    bool before(call_record& record, int fd, const iovec* pieces, int count, off_t offset, int) {
        return offset == -1 ? write_pieces::before(record, fd, pieces, count)
                            : at.before(record, fd, pieces, count, offset);
    }
};

// --- from one file into another: one record, of the destination ---

inline void advance(int fd, bool by_position, ssize_t result) {
    open_file* file = by_position && result > 0 ? descriptors::find(fd) : nullptr;
    if (file != nullptr) file->position.fetch_add(result, std::memory_order_relaxed);
}

inline bool before_copy(call_record& record, int from, int to, const off_t* to_offset, size_t bytes) {
    const open_file* source = descriptors::find(from);
    record.argument = source == nullptr ? 0 : source->file.load(std::memory_order_relaxed);
    record.bytes = static_cast<int64_t>(bytes);
    open_file* destination = descriptors::find(to);
    if (destination != nullptr) {
        record.file = destination->file.load(std::memory_order_relaxed);
        if (to_offset == nullptr)
            record.offset = descriptors::position(to, *destination, true);
        else
            (void)given::read(to_offset, record.offset);
    }
    return source != nullptr || destination != nullptr;
}

struct copy_range {
    static bool before(call_record& record, int from, off_t*, int to, off_t* to_offset, size_t bytes, unsigned) {
        return before_copy(record, from, to, to_offset, bytes);
    }
    static void after(call_record& record, ssize_t result, int from, off_t* from_offset, int to, off_t* to_offset,
                      size_t, unsigned) {
        set_moved(record, result);
        advance(from, from_offset == nullptr, result);
        advance(to, to_offset == nullptr, result);
    }
};

struct send_file {
    static bool before(call_record& record, int to, int from, off_t*, size_t bytes) {
        return before_copy(record, from, to, nullptr, bytes);
    }
    static void after(call_record& record, ssize_t result, int to, int from, off_t* offset, size_t) {
        set_moved(record, result);
        advance(from, offset == nullptr, result);
        advance(to, true, result);
    }
};

// --- asynchronous: what is asked is recorded with the request, what was moved with its return ---

/// False of a request that cannot be read, or of a file that nobody wants to see.
inline bool set_request(call_record& record, const aiocb* request) {
    record.argument = direct::address(request);
    return given::is_readable(request, sizeof *request) && set_file(record, request->aio_fildes);
}

struct aio_start : nothing_after {
    static bool before(call_record& record, const aiocb* request) {
        if (!set_request(record, request)) return false;
        record.offset = request->aio_offset;
        record.bytes = static_cast<int64_t>(request->aio_nbytes);
        return true;
    }
};

struct aio_sync : nothing_after {
    static bool before(call_record& record, int, const aiocb* request) { return set_request(record, request); }
};

struct aio_end {
    static expected transfers(const call_record&) { return expected::no; }  // that is over
    static bool before(call_record& record, const aiocb* request) {
        if (!set_request(record, request)) return false;
        if (request->aio_lio_opcode == LIO_READ) record.function = static_cast<uint16_t>(call_id::aio_return_read);
        if (request->aio_lio_opcode == LIO_WRITE) record.function = static_cast<uint16_t>(call_id::aio_return_write);
        record.offset = request->aio_offset;
        return true;
    }
    static void after(call_record& record, ssize_t result, const aiocb*) { set_moved(record, result); }
};

struct aio_list : nothing_after {
    static bool may_block(int mode, aiocb* const*, int, const void*) { return mode != LIO_NOWAIT; }
    static expected transfers(const call_record&) { return expected::yes; }
    static bool before(call_record& record, int, aiocb* const*, int count, const void*) {
        record.argument = count;
        return true;
    }
};

}  // namespace halcyon::calls::shapes
