// The wrappers of MPI-IO: for each row of table_mpi.def those in C and in Fortran, by the row's form.
#include "calls/wrappers/mpi/mpi_epochs.hpp"
#include "calls/wrappers/mpi/mpi_facts.hpp"
#include "calls/wrappers/mpi/mpi_hints.hpp"
#include "calls/wrappers/mpi/mpiio_shapes.hpp"

namespace halcyon::calls::mpi {

void open_mpi_file::after(call_record& record, int result, const void*) const {
    if (result != success) {
        record.file = known_files::of_path(AT_FDCWD, without_prefix(path));
        return;
    }
    constexpr int sequential = 256;  // MPI_MODE_SEQUENTIAL, the same with Open MPI and MPICH
    const handle file = spoken == language::fortran ? file_from_fortran(*static_cast<const int*>(opened_file))
                                                    : *static_cast<const handle*>(opened_file);
    record.file = opened(file, path, (access & sequential) != 0);
    tell_of_world();
    tell_of_file(record.file, file, communicator, access);
}

}  // namespace halcyon::calls::mpi

namespace halcyon::calls {
using mpi::handle;
using mpi::language;

// A wrapper in C. `make` is the shape's initializer; `names` what the real function is given, its status as `used`.
#define IN_C(symbol, id, shape, parameters, make, names)                                               \
    HALCYON_WRAPPER(symbol, int, parameters);                                                          \
    int halcyon_wrap_##symbol parameters {                                                             \
        return mpi::call<call_id::id>(                                                                 \
            [&] { return mpi::shape make; },                                                           \
            [&]([[maybe_unused]] void* used) { return HALCYON_REAL(symbol, int, parameters) names; }); \
    }
#define IN_C_WITH_STATUS(symbol, id, shape, parameters, make, names)                                           \
    HALCYON_WRAPPER(symbol, int, parameters);                                                                  \
    int halcyon_wrap_##symbol parameters {                                                                     \
        return mpi::call<call_id::id>([&] { return mpi::shape make; },                                         \
                                      [&](void* used) { return HALCYON_REAL(symbol, int, parameters) names; }, \
                                      status);                                                                 \
    }
// A wrapper in Fortran: all arguments are addresses, and `error` the last of them (but for lengths of texts).
#define IN_FORTRAN(symbol, id, shape, parameters, make, names)                       \
    HALCYON_WRAPPER(symbol, void, parameters);                                       \
    void halcyon_wrap_##symbol parameters {                                          \
        mpi::call_fortran<call_id::id>([&] { return mpi::shape make; },              \
                                       [&]([[maybe_unused]] void* used, int* told) { \
                                           HALCYON_REAL(symbol, void, parameters)    \
                                           names;                                    \
                                       },                                            \
                                       error);                                       \
    }
#define IN_FORTRAN_WITH_STATUS(symbol, id, shape, parameters, make, names)        \
    HALCYON_WRAPPER(symbol, void, parameters);                                    \
    void halcyon_wrap_##symbol parameters {                                       \
        mpi::call_fortran<call_id::id>([&] { return mpi::shape make; },           \
                                       [&](void* used, int* told) {               \
                                           HALCYON_REAL(symbol, void, parameters) \
                                           names;                                 \
                                       },                                         \
                                       error, status);                            \
    }

// Fortran's entry points of functions without a buffer, with one, and with one that is counted.
#define ALL_PLAIN(call, with) with(mpi_file_##call##_, call) with(mpi_file_##call##_f08_, call)
#define ALL_END(call, with) ALL_PLAIN(call, with) with(mpi_file_##call##_f08ts_, call)
#define ALL_COUNTED(call, with)                                                 \
    with(mpi_file_##call##_, call, int) with(mpi_file_##call##_f08_, call, int) \
        with(mpi_file_##call##_f08ts_, call, int) with(mpi_file_##call##_f08ts_large_, call, int64_t)

// --- without data ---
// handle and int64_t arguments that only pass through may be ints of the library: they are handed on in whole
// registers.
#define FORTRAN_FILE mpi::file_from_fortran(*file)

#define TOGETHER(call, file_) mpi::around_transfer<call_id::MPI_File_##call>([&] { return file_; })

#define BEFORE_SYNC(file) mpi::epoch_before(file, mpi::epoch_before::call::syncs)
#define FORTRAN_SYNC(symbol, call)                                                        \
    IN_FORTRAN(symbol, MPI_File_##call, on_file, (int* file, int* error), {FORTRAN_FILE}, \
               (BEFORE_SYNC(FORTRAN_FILE).for_call_of(file), told))
#define FORM_sync(call)                                                                                           \
    IN_C(MPI_File_##call, MPI_File_##call, on_file, (handle file), {file}, (BEFORE_SYNC(file).for_call_of(file))) \
    ALL_PLAIN(call, FORTRAN_SYNC)

#define FORTRAN_SIZE(symbol, call)                                                           \
    IN_FORTRAN(symbol, MPI_File_##call, resize_file, (int* file, int64_t* size, int* error), \
               ({{FORTRAN_FILE}, *size}), (TOGETHER(call, FORTRAN_FILE).for_call_of(file), size, told))
#define FORM_size(call)                                                                                \
    IN_C(MPI_File_##call, MPI_File_##call, resize_file, (handle file, int64_t size), ({{file}, size}), \
         (TOGETHER(call, file).for_call_of(file), size))                                               \
    ALL_PLAIN(call, FORTRAN_SIZE)

#define FORTRAN_ASK(symbol, call) \
    IN_FORTRAN(symbol, MPI_File_##call, on_file, (int* file, void* out, int* error), {FORTRAN_FILE}, (file, out, told))
#define FORM_ask(call)                                                                             \
    IN_C(MPI_File_##call, MPI_File_##call, on_file, (handle file, void* out), {file}, (file, out)) \
    ALL_PLAIN(call, FORTRAN_ASK)

#define FORTRAN_ASK_OF(symbol, call)                                                                           \
    IN_FORTRAN(symbol, MPI_File_##call, on_file, (int* file, void* of, void* out, int* error), {FORTRAN_FILE}, \
               (file, of, out, told))
#define C_ASK_OF_TYPE(symbol, call) \
    IN_C(symbol, MPI_File_##call, on_file, (handle file, handle of, void* out), {file}, (file, of, out))
#define FORM_ask_of_type(call)               \
    C_ASK_OF_TYPE(MPI_File_##call, call)     \
    C_ASK_OF_TYPE(MPI_File_##call##_c, call) \
    ALL_PLAIN(call, FORTRAN_ASK_OF) FORTRAN_ASK_OF(mpi_file_##call##_f08_large_, call)
#define FORM_ask_of_offset(call)                                                                                   \
    IN_C(MPI_File_##call, MPI_File_##call, on_file, (handle file, int64_t of, void* out), {file}, (file, of, out)) \
    ALL_PLAIN(call, FORTRAN_ASK_OF)

#define FORTRAN_SET_INFO(symbol, call) \
    IN_FORTRAN(symbol, MPI_File_##call, on_file, (int* file, int* info, int* error), {FORTRAN_FILE}, (file, info, told))
#define FORM_set_info(call)                                                                           \
    IN_C(MPI_File_##call, MPI_File_##call, on_file, (handle file, handle info), {file}, (file, info)) \
    ALL_PLAIN(call, FORTRAN_SET_INFO)

#define FORTRAN_SET_FLAG(symbol, call)                                                                                \
    IN_FORTRAN(symbol, MPI_File_##call, set_flag, (int* file, int* flag, int* error), ({{FORTRAN_FILE}, *flag != 0}), \
               (file, flag, told))
#define FORM_set_flag(call)                                                                                   \
    IN_C(MPI_File_##call, MPI_File_##call, set_flag, (handle file, int flag), ({{file}, flag}), (file, flag)) \
    ALL_PLAIN(call, FORTRAN_SET_FLAG)

#define FORTRAN_SEEK(symbol, call)                                                                        \
    IN_FORTRAN(symbol, MPI_File_##call, seek_file, (int* file, int64_t* offset, int* whence, int* error), \
               ({{FORTRAN_FILE}, *whence}), (file, offset, whence, told))
#define FORM_seek(call)                                                                                              \
    IN_C(MPI_File_##call, MPI_File_##call, seek_file, (handle file, int64_t offset, int whence), ({{file}, whence}), \
         (file, offset, whence))                                                                                     \
    ALL_PLAIN(call, FORTRAN_SEEK)

#define FORTRAN_SEEK_SHARED(symbol, call)                                                                   \
    IN_FORTRAN(symbol, MPI_File_##call, seek_shared, (int* file, int64_t* offset, int* whence, int* error), \
               ({{FORTRAN_FILE}, *offset, *whence}), (file, offset, whence, told))
#define FORM_seek_shared(call)                                                                     \
    IN_C(MPI_File_##call, MPI_File_##call, seek_shared, (handle file, int64_t offset, int whence), \
         ({{file}, offset, whence}), (file, offset, whence))                                       \
    ALL_PLAIN(call, FORTRAN_SEEK_SHARED)

#define FORTRAN_SET_VIEW(symbol, call)                                                                             \
    IN_FORTRAN(                                                                                                    \
        symbol, MPI_File_##call, view_of_file,                                                                     \
        (int* file, int64_t* displacement, int* elementary, int* filetype, char* representation, int* info,        \
         int* error, size_t length),                                                                               \
        ({{FORTRAN_FILE}, *displacement, mpi::type_from_fortran(*elementary), mpi::type_from_fortran(*filetype)}), \
        (file, displacement, elementary, filetype, representation, info, told, length))
#define FORM_set_view(call)                                                                                  \
    IN_C(MPI_File_##call, MPI_File_##call, view_of_file,                                                     \
         (handle file, int64_t displacement, handle elementary, handle filetype, const char* representation, \
          handle info),                                                                                      \
         ({{file}, displacement, elementary, filetype}),                                                     \
         (file, displacement, elementary, filetype, representation, info))                                   \
    ALL_PLAIN(call, FORTRAN_SET_VIEW)

#define FORTRAN_GET_VIEW(symbol, call)                                                                             \
    IN_FORTRAN(symbol, MPI_File_##call, on_file,                                                                   \
               (int* file, void* displacement, void* elementary, void* filetype, char* representation, int* error, \
                size_t length),                                                                                    \
               {FORTRAN_FILE}, (file, displacement, elementary, filetype, representation, told, length))
#define FORM_get_view(call)                                                                                 \
    IN_C(MPI_File_##call, MPI_File_##call, on_file,                                                         \
         (handle file, void* displacement, void* elementary, void* filetype, char* representation), {file}, \
         (file, displacement, elementary, filetype, representation))                                        \
    ALL_PLAIN(call, FORTRAN_GET_VIEW)

// --- opening and closing ---
#define FORTRAN_OPEN(symbol, call)                                                                                 \
    HALCYON_WRAPPER(                                                                                               \
        symbol, void,                                                                                              \
        (int* communicator, const char* path, int* access, int* info, int* file, int* error, size_t length));      \
    void halcyon_wrap_##symbol(int* communicator, const char* path, int* access, int* info, int* file, int* error, \
                               size_t length) {                                                                    \
        const mpi::fortran_text text(path, length);                                                                \
        const handle ranks = mpi::communicator_from_fortran(*communicator);                                        \
        mpi::call_fortran<call_id::MPI_File_##call>(                                                               \
            [&] {                                                                                                  \
                return mpi::open_mpi_file{ranks, text.get(), *access, file, language::fortran};                    \
            },                                                                                                     \
            [&](void*, int* told) {                                                                                \
                const mpi::fortran_path named(text.get(), path, length);                                           \
                mpi::opening_together together(ranks, named.get(), *access);                                       \
                mpi::file_hints hints(named.get(), info);                                                          \
                mpi::clear_stack_ahead();                                                                          \
                HALCYON_REAL(symbol, void, (int*, const char*, int*, int*, int*, int*, size_t))                    \
                (communicator, named.given(), access, hints.of_fortran(), file, told, named.length());             \
                if (*told == mpi::success) together.opened(mpi::file_from_fortran(*file));                         \
            },                                                                                                     \
            error);                                                                                                \
    }
#define FORM_open(name)                                                                                              \
    HALCYON_WRAPPER(MPI_File_##name, int,                                                                            \
                    (handle communicator, const char* path, int access, handle info, handle* file));                 \
    int halcyon_wrap_MPI_File_##name(handle communicator, const char* path, int access, handle info, handle* file) { \
        return mpi::call<call_id::MPI_File_##name>(                                                                  \
            [&] {                                                                                                    \
                return mpi::open_mpi_file{communicator, path, access, file, language::c};                            \
            },                                                                                                       \
            [&](void*) {                                                                                             \
                const mpi::library_path named(path);                                                                 \
                mpi::opening_together together(communicator, named.get(), access);                                   \
                const int result = HALCYON_REAL(MPI_File_##name, int, (handle, const char*, int, handle, handle*))(  \
                    communicator, named.get(), access, mpi::file_hints(named.get(), info).of_c(), file);             \
                if (result == mpi::success) together.opened(*file);                                                  \
                return result;                                                                                       \
            });                                                                                                      \
    }                                                                                                                \
    ALL_PLAIN(name, FORTRAN_OPEN)

#define BEFORE_CLOSE(file) mpi::epoch_before(file, mpi::epoch_before::call::closes)
#define FILE_AT(file) file == nullptr ? nullptr : *file
#define FORTRAN_CLOSE(symbol, call)                                                                  \
    IN_FORTRAN(symbol, MPI_File_##call, close_mpi_file, (int* file, int* error), ({{FORTRAN_FILE}}), \
               (BEFORE_CLOSE(FORTRAN_FILE).for_call_of(file), told))
#define FORM_close(call)                                                                         \
    IN_C(MPI_File_##call, MPI_File_##call, close_mpi_file, (handle * file), ({{FILE_AT(file)}}), \
         (BEFORE_CLOSE(FILE_AT(file)).for_call_of(file)))                                        \
    ALL_PLAIN(call, FORTRAN_CLOSE)

#define FORTRAN_DELETE(symbol, call)                                                                                  \
    HALCYON_WRAPPER(symbol, void, (const char* path, int* info, int* error, size_t length));                          \
    void halcyon_wrap_##symbol(const char* path, int* info, int* error, size_t length) {                              \
        const mpi::fortran_text text(path, length);                                                                   \
        mpi::call_fortran<call_id::MPI_File_##call>([&] { return mpi::on_mpi_path{text.get()}; },                     \
                                                    [&](void*, int* told) {                                           \
                                                        const mpi::fortran_path named(text.get(), path, length,       \
                                                                                      backends::last_link::stays);    \
                                                        HALCYON_REAL(symbol, void, (const char*, int*, int*, size_t)) \
                                                        (named.given(), info, told, named.length());                  \
                                                    },                                                                \
                                                    error);                                                           \
    }
#define FORM_delete_path(call)                                                                   \
    IN_C(MPI_File_##call, MPI_File_##call, on_mpi_path, (const char* path, handle info), {path}, \
         (mpi::library_path(path, backends::last_link::stays).get(), info))                      \
    ALL_PLAIN(call, FORTRAN_DELETE)

// --- data: at an offset, or next by the individual or the shared pointer; at once, started, or begun ---
#define BY(place, offset_, count_, type_) mpi::position::place, offset_, count_, type_
#define C_PLACE(file_, place, offset_) \
    { file_, BY(place, offset_, static_cast<int64_t>(count), type) }
#define FORTRAN_PLACE(place, offset_) \
    { FORTRAN_FILE, BY(place, offset_, *count, mpi::type_from_fortran(*type)) }
// The C function with counts of both widths.
#define BOTH_COUNTS(call, with) with(MPI_File_##call, call, int) with(MPI_File_##call##_c, call, int64_t)

#define C_TRANSFER_AT(symbol, call, count_type)                                                              \
    IN_C_WITH_STATUS(symbol, MPI_File_##call, transfer,                                                      \
                     (handle file, int64_t offset, void* data, count_type count, handle type, void* status), \
                     ({C_PLACE(file, explicit_offset, offset)}),                                             \
                     (TOGETHER(call, file).for_call_of(file), offset, data, count, type, used))
#define FORTRAN_TRANSFER_AT(symbol, call, count_type)                                                     \
    IN_FORTRAN_WITH_STATUS(                                                                               \
        symbol, MPI_File_##call, transfer,                                                                \
        (int* file, int64_t* offset, void* data, count_type* count, int* type, void* status, int* error), \
        ({FORTRAN_PLACE(explicit_offset, *offset)}),                                                      \
        (TOGETHER(call, FORTRAN_FILE).for_call_of(file), offset, data, count, type, used, told))
#define FORM_transfer_at(call) BOTH_COUNTS(call, C_TRANSFER_AT) ALL_COUNTED(call, FORTRAN_TRANSFER_AT)

#define C_TRANSFER_BY(symbol, call, count_type, place)                                                             \
    IN_C_WITH_STATUS(                                                                                              \
        symbol, MPI_File_##call, transfer, (handle file, void* data, count_type count, handle type, void* status), \
        ({C_PLACE(file, place, none)}), (TOGETHER(call, file).for_call_of(file), data, count, type, used))
#define FORTRAN_TRANSFER_BY(symbol, call, count_type, place)                                                \
    IN_FORTRAN_WITH_STATUS(symbol, MPI_File_##call, transfer,                                               \
                           (int* file, void* data, count_type* count, int* type, void* status, int* error), \
                           ({FORTRAN_PLACE(place, none)}),                                                  \
                           (TOGETHER(call, FORTRAN_FILE).for_call_of(file), data, count, type, used, told))
#define C_TRANSFER_NEXT(symbol, call, count_type) C_TRANSFER_BY(symbol, call, count_type, individual_pointer)
#define C_TRANSFER_SHARED(symbol, call, count_type) C_TRANSFER_BY(symbol, call, count_type, shared_pointer)
#define FORTRAN_TRANSFER_NEXT(symbol, call, count_type) \
    FORTRAN_TRANSFER_BY(symbol, call, count_type, individual_pointer)
#define FORTRAN_TRANSFER_SHARED(symbol, call, count_type) FORTRAN_TRANSFER_BY(symbol, call, count_type, shared_pointer)
#define FORM_transfer_next(call) BOTH_COUNTS(call, C_TRANSFER_NEXT) ALL_COUNTED(call, FORTRAN_TRANSFER_NEXT)
#define FORM_transfer_shared(call) BOTH_COUNTS(call, C_TRANSFER_SHARED) ALL_COUNTED(call, FORTRAN_TRANSFER_SHARED)

#define C_START_AT(symbol, call, count_type)                                                      \
    IN_C(symbol, MPI_File_##call, transfer_start,                                                 \
         (handle file, int64_t offset, void* data, count_type count, handle type, void* request), \
         ({C_PLACE(file, explicit_offset, offset), request, language::c}),                        \
         (TOGETHER(call, file).for_call_of(file), offset, data, count, type, request))
#define FORTRAN_START_AT(symbol, call, count_type)                                                               \
    IN_FORTRAN(symbol, MPI_File_##call, transfer_start,                                                          \
               (int* file, int64_t* offset, void* data, count_type* count, int* type, int* request, int* error), \
               ({FORTRAN_PLACE(explicit_offset, *offset), request, language::fortran}),                          \
               (TOGETHER(call, FORTRAN_FILE).for_call_of(file), offset, data, count, type, request, told))
#define FORM_start_at(call) BOTH_COUNTS(call, C_START_AT) ALL_COUNTED(call, FORTRAN_START_AT)

#define C_START_BY(symbol, call, count_type, place)                               \
    IN_C(symbol, MPI_File_##call, transfer_start,                                 \
         (handle file, void* data, count_type count, handle type, void* request), \
         ({C_PLACE(file, place, none), request, language::c}),                    \
         (TOGETHER(call, file).for_call_of(file), data, count, type, request))
#define FORTRAN_START_BY(symbol, call, count_type, place)                                       \
    IN_FORTRAN(symbol, MPI_File_##call, transfer_start,                                         \
               (int* file, void* data, count_type* count, int* type, int* request, int* error), \
               ({FORTRAN_PLACE(place, none), request, language::fortran}),                      \
               (TOGETHER(call, FORTRAN_FILE).for_call_of(file), data, count, type, request, told))
#define C_START_NEXT(symbol, call, count_type) C_START_BY(symbol, call, count_type, individual_pointer)
#define C_START_SHARED(symbol, call, count_type) C_START_BY(symbol, call, count_type, shared_pointer)
#define FORTRAN_START_NEXT(symbol, call, count_type) FORTRAN_START_BY(symbol, call, count_type, individual_pointer)
#define FORTRAN_START_SHARED(symbol, call, count_type) FORTRAN_START_BY(symbol, call, count_type, shared_pointer)
#define FORM_start_next(call) BOTH_COUNTS(call, C_START_NEXT) ALL_COUNTED(call, FORTRAN_START_NEXT)
#define FORM_start_shared(call) BOTH_COUNTS(call, C_START_SHARED) ALL_COUNTED(call, FORTRAN_START_SHARED)

#define C_BEGIN_AT(symbol, call, count_type)                                       \
    IN_C(symbol, MPI_File_##call, transfer_begin,                                  \
         (handle file, int64_t offset, void* data, count_type count, handle type), \
         (C_PLACE(file, explicit_offset, offset)),                                 \
         (TOGETHER(call, file).for_call_of(file), offset, data, count, type))
#define FORTRAN_BEGIN_AT(symbol, call, count_type)                                                 \
    IN_FORTRAN(symbol, MPI_File_##call, transfer_begin,                                            \
               (int* file, int64_t* offset, void* data, count_type* count, int* type, int* error), \
               (FORTRAN_PLACE(explicit_offset, *offset)),                                          \
               (TOGETHER(call, FORTRAN_FILE).for_call_of(file), offset, data, count, type, told))
#define FORM_begin_at(call) BOTH_COUNTS(call, C_BEGIN_AT) ALL_COUNTED(call, FORTRAN_BEGIN_AT)

#define C_BEGIN_BY(symbol, call, count_type, place)                                                         \
    IN_C(symbol, MPI_File_##call, transfer_begin, (handle file, void* data, count_type count, handle type), \
         (C_PLACE(file, place, none)), (TOGETHER(call, file).for_call_of(file), data, count, type))
#define FORTRAN_BEGIN_BY(symbol, call, count_type, place)                                                       \
    IN_FORTRAN(symbol, MPI_File_##call, transfer_begin,                                                         \
               (int* file, void* data, count_type* count, int* type, int* error), (FORTRAN_PLACE(place, none)), \
               (TOGETHER(call, FORTRAN_FILE).for_call_of(file), data, count, type, told))
#define C_BEGIN_NEXT(symbol, call, count_type) C_BEGIN_BY(symbol, call, count_type, individual_pointer)
#define C_BEGIN_SHARED(symbol, call, count_type) C_BEGIN_BY(symbol, call, count_type, shared_pointer)
#define FORTRAN_BEGIN_NEXT(symbol, call, count_type) FORTRAN_BEGIN_BY(symbol, call, count_type, individual_pointer)
#define FORTRAN_BEGIN_SHARED(symbol, call, count_type) FORTRAN_BEGIN_BY(symbol, call, count_type, shared_pointer)
#define FORM_begin_next(call) BOTH_COUNTS(call, C_BEGIN_NEXT) ALL_COUNTED(call, FORTRAN_BEGIN_NEXT)
#define FORM_begin_shared(call) BOTH_COUNTS(call, C_BEGIN_SHARED) ALL_COUNTED(call, FORTRAN_BEGIN_SHARED)

#define FORTRAN_END(symbol, call)                                                                                    \
    IN_FORTRAN_WITH_STATUS(symbol, MPI_File_##call, transfer_end, (int* file, void* data, void* status, int* error), \
                           ({{FORTRAN_FILE}}), (file, data, used, told))
#define FORM_end(call)                                                                                        \
    IN_C_WITH_STATUS(MPI_File_##call, MPI_File_##call, transfer_end, (handle file, void* data, void* status), \
                     ({{file}}), (file, data, used))                                                          \
    ALL_END(call, FORTRAN_END)

// Every row makes its wrappers.
#define MPI_FILE(call, kind, form, callers, argument) FORM_##form(call)
#define MPI_LARGE(call, kind, form, callers, argument) FORM_##form(call)
#define MPI_DATA(call, kind, form, callers, argument) FORM_##form(call)
#define MPI_END(call, kind, form, callers, argument) FORM_##form(call)
#define MPI_OTHER(Name, name, kind, argument)
#include "calls/record/table_mpi.def"

}  // namespace halcyon::calls
