#pragma once

#include "calls/state/known_files.hpp"
#include "calls/wrappers/mpi/mpi_call.hpp"
#include "calls/wrappers/mpi/mpi_facts.hpp"
#include "calls/wrappers/mpi/mpi_files.hpp"
#include "calls/wrappers/mpi/mpi_paths.hpp"

/// How the arguments and results of MPI-IO functions fill in a record (mpi_call.hpp); table_mpi.def says which function
/// has which form.
namespace halcyon::calls::mpi {

struct on_file {
    handle file;
    bool before(call_record& record) const {
        record.file = file_of(file);
        return record.file != known_files::ignored;
    }
    static void after(call_record&, int, const void*) {}
};

/// Which of the file's three positions a transfer goes by.
enum class position : uint8_t { explicit_offset, individual_pointer, shared_pointer };

/// A transfer, or the beginning of one. With the shared pointer nobody knows its place before it is made.
struct transfer_begin {
    handle file;
    position by;
    int64_t offset;  ///< in elementary types of the view
    int64_t count;
    handle type;

    bool before(call_record& record) const {
        const int64_t element = bytes_of_type(type);
        if (element != none && count >= 0) record.bytes = element * count;
        if (by == position::explicit_offset) record.offset = absolute_offset(file, offset);
        if (by == position::individual_pointer) record.offset = absolute_position(file);
        return on_file{file}.before(record);
    }
    static void after(call_record&, int, const void*) {}
};

struct transfer : transfer_begin {
    static constexpr bool wants_status = true;
    static void after(call_record& record, int result, const void* status) {
        if (result == success) record.moved = bytes_of_status(status);
    }
};

struct transfer_end : on_file {
    static constexpr bool wants_status = true;
    static void after(call_record& record, int result, const void* status) { transfer::after(record, result, status); }
};

/// A transfer whose request will be completed by another call.
struct transfer_start : transfer_begin {
    const void* request;
    language spoken;

    void after(call_record& record, int result, const void*) const {
        if (result != success || request == nullptr) return;
        const handle started = spoken == language::fortran ? request_from_fortran(*static_cast<const int*>(request))
                               : open_mpi()                ? *static_cast<const handle*>(request)
                                                           : request_from_fortran(*static_cast<const int*>(request));
        record.argument = static_cast<int64_t>(key_of(started));
        requests::add(started, record.file);
    }
};

struct resize_file : on_file {
    int64_t size;
    bool before(call_record& record) const {
        record.bytes = size;
        return on_file::before(record);
    }
};

struct set_flag : on_file {
    int64_t flag;
    bool before(call_record& record) const {
        record.argument = flag;
        return on_file::before(record);
    }
};

constexpr int seek_set = 600;  // MPI_SEEK_SET is the same with Open MPI and MPICH

struct seek_file : on_file {
    int whence;
    bool before(call_record& record) const {
        record.argument = whence;
        return on_file::before(record);
    }
    void after(call_record& record, int result, const void*) const {
        if (result == success) record.offset = absolute_position(file);
    }
};

/// Asking for the shared pointer is I/O of its own with some libraries: only what the call itself tells is known.
struct seek_shared : on_file {
    int64_t offset;
    int whence;
    bool before(call_record& record) const {
        record.argument = whence;
        if (whence == seek_set) record.offset = absolute_offset(file, offset);
        return on_file::before(record);
    }
};

/// It asks for no bytes: the size of its type is none, and pieces that lie apart are a fact (mpi.view).
struct view_of_file : on_file {
    int64_t displacement;
    handle elementary;
    handle filetype;

    bool before(call_record& record) const {
        record.offset = displacement;
        record.argument = bytes_of_type(elementary);
        return on_file::before(record);
    }
    void after(call_record& record, int result, const void*) const {
        if (result != success) return;
        const bool plain = displacement == 0 && is_byte(elementary) && is_byte(filetype);
        set_view_is_plain(file, plain);
        if (!plain) tell_of_view(record.file, file, record.argument, bytes_of_type(filetype));
    }
};

struct open_mpi_file {
    handle communicator;
    const char* path;
    int access;
    const void* opened_file;  ///< where the function leaves the handle
    language spoken;

    bool before(call_record& record) const {
        record.argument = access;
        return true;
    }
    void after(call_record& record, int result, const void* status) const;
};

struct close_mpi_file : on_file {
    bool before(call_record& record) const {
        const bool wanted = on_file::before(record);
        closed(file);  // before: another thread may get the same handle at once
        return wanted;
    }
};

struct on_mpi_path {
    const char* path;
    bool before(call_record& record) const {
        record.file = known_files::of_path(AT_FDCWD, without_prefix(path));
        return record.file != known_files::ignored;
    }
    static void after(call_record&, int, const void*) {}
};

}  // namespace halcyon::calls::mpi
