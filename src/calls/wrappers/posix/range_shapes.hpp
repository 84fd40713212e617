#pragma once

#include "calls/state/file_mappings.hpp"
#include "calls/state/mpi_launcher.hpp"
#include "calls/wrappers/posix/name_shapes.hpp"

/// As name_shapes.hpp: functions about a position, a size or a part of a file, and maps of it.
namespace halcyon::calls::shapes {

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

// --- memory ---

class map_file {
  public:
    bool before(call_record& record, void*, size_t bytes, int protection, int flags, int fd, off_t offset) {
        if (fd < 0 || (flags & MAP_ANONYMOUS) != 0) return false;
        record.bytes = static_cast<int64_t>(bytes);
        record.offset = offset;
        record.argument = protection;
        const thread_state& thread = this_thread();
        const level outer = entry_of(static_cast<uint16_t>(thread.function)).at;
        made_by_library_ = thread.current != 0 && (outer == level::mpiio || outer == level::hdf5);
        return set_file(record, fd);
    }
    void after(call_record& record, void* result, void*, size_t bytes, int protection, int flags, int, off_t) const {
        if (result == MAP_FAILED) {
            record.error = static_cast<uint16_t>(errno);
            return;
        }
        if ((flags & MAP_SHARED) == 0) return;
        file_mappings::note(result, bytes, record.file);
        if ((protection & PROT_WRITE) == 0 || made_by_library_ || is_mpi_launcher()) return;
        this_process().layers.each([](layer& l) { l.on_absence("stores into mapped files", 1); });
    }

  private:
    bool made_by_library_ = false;  // memory that MPI's ranks share; its launcher's, too, is no application's
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

}  // namespace halcyon::calls::shapes
