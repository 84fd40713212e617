#pragma once

#include <aio.h>
#include <dirent.h>
#include <sys/uio.h>

#include "calls/descriptors.hpp"
#include "calls/file_mappings.hpp"
#include "calls/interception.hpp"
#include "calls/known_files.hpp"

/// How the arguments and results of POSIX functions fill in a record; table.def says which function has which shape.
/// `before` is given the arguments, `after` the result, too. Further arguments that a shape does not need follow.
namespace halcyon::calls::shapes {

struct nothing_after {
    template <class... Rest>
    static void after(call_record&, const Rest&...) {}
};

struct on_nothing : nothing_after {
    template <class... Rest>
    static bool before(call_record&, const Rest&...) {
        return true;
    }
};

/// Fills in the file of a descriptor; false when nobody wants its calls.
inline bool set_file(call_record& record, int fd) {
    const open_file* file = descriptors::find(fd);
    if (file == nullptr) return false;
    record.file = file->file.load(std::memory_order_relaxed);
    return true;
}

inline bool set_path(call_record& record, int directory, const char* path) {
    record.file = known_files::of_path(directory, path);
    return record.file != known_files::ignored;
}

struct on_descriptor : nothing_after {
    template <class... Rest>
    static bool before(call_record& record, int fd, const Rest&...) {
        return set_file(record, fd);
    }
};

struct on_descriptor_after_version : nothing_after {
    template <class... Rest>
    static bool before(call_record& record, int, int fd, const Rest&...) {
        return set_file(record, fd);
    }
};

struct on_path : nothing_after {
    static bool before(call_record& record, const char* path) { return set_path(record, AT_FDCWD, path); }
    template <class Second, class... Rest>
    static bool before(call_record& record, const char* path, const Second& second, const Rest&...) {
        if constexpr (std::is_integral_v<Second>) record.argument = static_cast<int64_t>(second);  // a mode
        return set_path(record, AT_FDCWD, path);
    }
};

struct on_path_after_version : nothing_after {
    template <class... Rest>
    static bool before(call_record& record, int, const char* path, const Rest&...) {
        return set_path(record, AT_FDCWD, path);
    }
};

/// An empty path means the directory's descriptor itself (AT_EMPTY_PATH).
inline bool set_path_or_descriptor(call_record& record, int directory, const char* path) {
    if (path != nullptr && *path == '\0' && directory >= 0) return set_file(record, directory);
    return set_path(record, directory, path);
}

struct on_path_at : nothing_after {
    template <class... Rest>
    static bool before(call_record& record, int directory, const char* path, const Rest&...) {
        return set_path_or_descriptor(record, directory, path);
    }
};

struct on_path_at_after_version : nothing_after {
    template <class... Rest>
    static bool before(call_record& record, int, int directory, const char* path, const Rest&...) {
        return set_path_or_descriptor(record, directory, path);
    }
};

struct on_two_paths : nothing_after {
    static bool before(call_record& record, const char* path, const char* to) {
        record.argument = known_files::of_path(AT_FDCWD, to);
        return set_path(record, AT_FDCWD, path);
    }
};

struct on_two_paths_at : nothing_after {
    template <class... Rest>
    static bool before(call_record& record, int directory, const char* path, int to_directory, const char* to,
                       const Rest&...) {
        record.argument = known_files::of_path(to_directory, to);
        return set_path(record, directory, path);
    }
};

struct on_second_path : nothing_after {
    static bool before(call_record& record, const char*, const char* path) { return set_path(record, AT_FDCWD, path); }
};

struct on_second_path_at : nothing_after {
    static bool before(call_record& record, const char*, int directory, const char* path) {
        return set_path(record, directory, path);
    }
};

// --- opening: the file is named once it is open, by the kernel; a failed call names it by its argument ---

inline void after_open(call_record& record, int fd, int flags, int directory, const char* path) {
    if (fd >= 0) {
        const open_file* opened = descriptors::opened(fd, flags);
        record.file = opened == nullptr ? known_files::ignored : opened->file.load(std::memory_order_relaxed);
    } else {
        record.file = known_files::of_path(directory, path);
    }
    record.argument = flags;
}

struct open_path {
    template <class... Rest>
    static bool before(call_record&, const Rest&...) {
        return true;
    }
    template <class... Rest>
    static void after(call_record& record, int fd, const char* path, int flags, const Rest&...) {
        after_open(record, fd, flags, AT_FDCWD, path);
    }
};

struct open_at : open_path {
    template <class... Rest>
    static void after(call_record& record, int fd, int directory, const char* path, int flags, const Rest&...) {
        after_open(record, fd, flags, directory, path);
    }
};

struct create_path : open_path {
    static void after(call_record& record, int fd, const char* path, unsigned) {
        after_open(record, fd, O_CREAT | O_WRONLY | O_TRUNC, AT_FDCWD, path);
    }
};

struct open_temporary : open_path {
    static void after(call_record& record, int fd, const char* name, int flags = 0) {
        after_open(record, fd, O_CREAT | O_RDWR | O_EXCL | flags, AT_FDCWD, name);
    }
};

struct open_temporary_suffix : open_path {
    static void after(call_record& record, int fd, const char* name, int, int flags = 0) {
        after_open(record, fd, O_CREAT | O_RDWR | O_EXCL | flags, AT_FDCWD, name);
    }
};

struct open_handle : open_path {
    static void after(call_record& record, int fd, int, void*, int flags) {
        after_open(record, fd, flags, AT_FDCWD, nullptr);
    }
};

struct close_one : nothing_after {
    static bool before(call_record& record, int fd) {
        const bool wanted = set_file(record, fd);
        descriptors::closing(fd);
        return wanted;
    }
};

struct duplicate : on_descriptor {
    static bool before(call_record& record, int fd) {
        // Also of a socket: the new number must not be taken for what it was before.
        if (!set_file(record, fd)) record.file = known_files::ignored;
        return true;
    }
    static void after(call_record&, int to, int fd) {
        if (to >= 0) descriptors::duplicated(fd, to);
    }
};

struct duplicate_to : duplicate {
    template <class... Rest>
    static bool before(call_record& record, int fd, int to, const Rest&...) {
        record.argument = to;
        return duplicate::before(record, fd);
    }
    template <class... Rest>
    static void after(call_record&, int result, int fd, int to, const Rest&...) {
        if (result >= 0) descriptors::duplicated(fd, to);
    }
};

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

inline int64_t sum_of(const iovec* pieces, int count) {
    int64_t sum = 0;
    for (int i = 0; pieces != nullptr && i < count; ++i) sum += static_cast<int64_t>(pieces[i].iov_len);
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

/// Linux appends what is written at an offset through a descriptor with O_APPEND: then it is at the end.
inline void correct_appended(call_record& record, int fd) {
    if (record.moved <= 0 || entry_of(record.function).does != kind::write) return;
    const open_file* file = descriptors::find(fd);
    if (file == nullptr || !file->appends.load(std::memory_order_relaxed)) return;
    struct stat now {};
    record.offset = direct::call(SYS_fstat, fd, direct::address(&now)) == 0 ? now.st_size - record.moved : none;
}

struct transfer_at {
    template <class... Rest>
    static bool before(call_record& record, int fd, const void*, size_t bytes, off_t offset, const Rest&...) {
        record.bytes = static_cast<int64_t>(bytes);
        record.offset = offset;
        return set_file(record, fd);
    }
    template <class... Rest>
    static void after(call_record& record, ssize_t result, int fd, const Rest&...) {
        set_moved(record, result);
        correct_appended(record, fd);
    }
};

struct pieces_at : transfer_at {
    static bool before(call_record& record, int fd, const iovec* pieces, int count, off_t offset) {
        record.bytes = sum_of(pieces, count);
        record.argument = count;
        record.offset = offset;
        return set_file(record, fd);
    }
};

/// Offset -1 means the descriptor's position.
struct read_pieces_at_or_next {
    static bool before(call_record& record, int fd, const iovec* pieces, int count, off_t offset, int) {
        return offset == -1 ? read_pieces::before(record, fd, pieces, count)
                            : pieces_at::before(record, fd, pieces, count, offset);
    }
    static void after(call_record& record, ssize_t result, int fd, const iovec*, int, off_t offset, int) {
        if (offset == -1) return after_next(record, result, fd);
        set_moved(record, result);
        correct_appended(record, fd);
    }
};

struct write_pieces_at_or_next : read_pieces_at_or_next {
    static bool before(call_record& record, int fd, const iovec* pieces, int count, off_t offset, int) {
        return offset == -1 ? write_pieces::before(record, fd, pieces, count)
                            : pieces_at::before(record, fd, pieces, count, offset);
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
        record.offset = to_offset != nullptr ? *to_offset : descriptors::position(to, *destination, true);
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

// --- position, size, advice ---

struct seek {
    static bool before(call_record& record, int fd, off_t, int whence) {
        record.argument = whence;
        return set_file(record, fd);
    }
    static void after(call_record& record, off_t result, int fd, off_t, int) {
        if (result < 0) return;
        record.offset = result;
        if (open_file* file = descriptors::find(fd)) file->position.store(result, std::memory_order_relaxed);
    }
};

struct on_range : nothing_after {
    static bool before(call_record& record, int fd, off_t offset, off_t bytes) {
        record.offset = offset;
        record.bytes = bytes;
        return set_file(record, fd);
    }
};

struct on_range_then_flags : nothing_after {
    static bool before(call_record& record, int fd, off_t offset, off_t bytes, int64_t flags) {
        record.argument = flags;
        return on_range::before(record, fd, offset, bytes);
    }
};

struct on_range_after_mode : nothing_after {
    static bool before(call_record& record, int fd, int mode, off_t offset, off_t bytes) {
        record.argument = mode;
        return on_range::before(record, fd, offset, bytes);
    }
};

/// These return the error instead of setting errno.
inline void set_returned_error(call_record& record, int result) {
    record.error = static_cast<uint16_t>(result);
}

struct on_range_returning_error : on_range {
    static void after(call_record& record, int result, int, off_t, off_t) { set_returned_error(record, result); }
};

struct advise : on_range_then_flags {
    static void after(call_record& record, int result, int, off_t, off_t, int) { set_returned_error(record, result); }
};

struct resize_path : nothing_after {
    static bool before(call_record& record, const char* path, off_t length) {
        record.bytes = length;
        return set_path(record, AT_FDCWD, path);
    }
};

struct resize_descriptor : nothing_after {
    static bool before(call_record& record, int fd, off_t length) {
        record.bytes = length;
        return set_file(record, fd);
    }
};

struct control_descriptor : nothing_after {
    static bool before(call_record& record, int fd, unsigned long request, const void*) {
        record.argument = static_cast<int64_t>(request);
        return set_file(record, fd);
    }
};

// --- directories ---

struct change_directory : nothing_after {
    static bool before(call_record& record, const char* path) { return set_path(record, AT_FDCWD, path); }
    static void after(call_record&, int, const char*) { known_files::forget_directory(); }
};

struct change_directory_to : on_descriptor {
    static void after(call_record&, int, int) { known_files::forget_directory(); }
};

struct open_directory {
    static bool before(call_record& record, const char* path) { return set_path(record, AT_FDCWD, path); }
    static void after(call_record&, DIR* opened, const char*) {
        if (opened != nullptr) descriptors::opened(dirfd(opened), O_RDONLY | O_DIRECTORY);
    }
};

struct on_directory {
    template <class... Rest>
    static bool before(call_record& record, DIR* directory, const Rest&...) {
        return directory == nullptr || set_file(record, dirfd(directory));
    }
    template <class... Rest>
    static void after(call_record& record, const Rest&...) {
        record.error = 0;  // readdir's null is the end, and errno what it was before
    }
};

struct close_directory : nothing_after {
    static bool before(call_record& record, DIR* directory) {
        const bool wanted = on_directory::before(record, directory);
        if (directory != nullptr) descriptors::closing(dirfd(directory));
        return wanted;
    }
};

struct make_temporary_directory {
    static bool before(call_record&, const char*) { return true; }
    static void after(call_record& record, const char*, const char* name) {
        record.file = known_files::of_path(AT_FDCWD, name);
    }
};

// --- memory ---

struct map_file : nothing_after {
    static bool before(call_record& record, void*, size_t bytes, int protection, int flags, int fd, off_t offset) {
        if (fd < 0 || (flags & MAP_ANONYMOUS) != 0) return false;
        record.bytes = static_cast<int64_t>(bytes);
        record.offset = offset;
        record.argument = protection;
        return set_file(record, fd);
    }
    static void after(call_record& record, void* result, void*, size_t bytes, int protection, int flags, int, off_t) {
        if (result == MAP_FAILED) {
            record.error = static_cast<uint16_t>(errno);
            return;
        }
        if ((flags & MAP_SHARED) != 0) file_mappings::note(result, bytes, record.file);
        if ((protection & PROT_WRITE) != 0 && (flags & MAP_SHARED) != 0) {
            this_process().layers.each([](layer& l) { l.on_absence("stores into mapped files", 1); });
        }
    }
};

/// Of memory that shows no file (a malloc's), it is no I/O.
struct remap_file {
    static bool before(call_record& record, void* at, size_t before, size_t bytes, int, void*) {
        record.file = file_mappings::file_at(at);
        record.bytes = static_cast<int64_t>(bytes);
        record.argument = static_cast<int64_t>(before);
        return record.file != known_files::unknown;
    }
    static void after(call_record& record, void* result, void* at, size_t before, size_t bytes, int, void*) {
        if (result == MAP_FAILED) {
            record.error = static_cast<uint16_t>(errno);
            return;
        }
        file_mappings::forget(at, before);
        file_mappings::note(result, bytes, record.file);
    }
};

struct unmap_file : nothing_after {
    static bool before(call_record& record, void* at, size_t bytes) {
        record.file = file_mappings::file_at(at);
        record.bytes = static_cast<int64_t>(bytes);
        file_mappings::forget(at, bytes);  // before: another thread may get the same memory at once
        return record.file != known_files::unknown;
    }
};

struct sync_map : nothing_after {
    static bool before(call_record& record, void* at, size_t bytes, int flags) {
        record.file = file_mappings::file_at(at);
        record.bytes = static_cast<int64_t>(bytes);
        record.argument = flags;
        return true;
    }
};

// --- asynchronous: what is asked is recorded with the request, what was moved with its return ---

inline bool set_request(call_record& record, const aiocb* request) {
    record.argument = direct::address(request);
    return request == nullptr || set_file(record, request->aio_fildes);
}

struct aio_start : nothing_after {
    static bool before(call_record& record, const aiocb* request) {
        if (request != nullptr) {
            record.offset = request->aio_offset;
            record.bytes = static_cast<int64_t>(request->aio_nbytes);
        }
        return set_request(record, request);
    }
};

struct aio_sync : nothing_after {
    static bool before(call_record& record, int, const aiocb* request) { return set_request(record, request); }
};

struct aio_end {
    static bool before(call_record& record, const aiocb* request) {
        if (request == nullptr) return true;
        if (request->aio_lio_opcode == LIO_READ) record.function = static_cast<uint16_t>(call_id::aio_return_read);
        if (request->aio_lio_opcode == LIO_WRITE) record.function = static_cast<uint16_t>(call_id::aio_return_write);
        record.offset = request->aio_offset;
        return set_request(record, request);
    }
    static void after(call_record& record, ssize_t result, const aiocb*) { set_moved(record, result); }
};

struct aio_list : nothing_after {
    static bool before(call_record& record, int, aiocb* const*, int count, const void*) {
        record.argument = count;
        return true;
    }
};

}  // namespace halcyon::calls::shapes
