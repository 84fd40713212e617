// The beginning and the end of MPI in a process.
#include "calls/state/unseen.hpp"
#include "calls/wrappers/mpi/mpi_call.hpp"
#include "calls/wrappers/mpi/mpi_clocks.hpp"
#include "calls/wrappers/mpi/mpi_facts.hpp"

namespace halcyon::calls {
namespace mpi {
namespace {

/// Calls that the library makes while it starts (configuration, topology) are its own: they get this as their parent.
struct start_of_mpi {
    static bool before(call_record&) {
        clocks::announce();
        return true;
    }
    static void after(call_record&, int result, const void*) {
        if (result != success) return;
        tell_of_world();
        clocks::compare_at_start();
    }
};

struct end_of_mpi {
    static bool before(call_record&) {
        clocks::compare_at_end();
        return true;
    }
    static void after(call_record&, int, const void*) {}
};

/// What was recorded is completed before: few libraries let the process end in an orderly way after this.
template <class Real>
int abort_after_recording(int code, Real real) {
    if (!recording() || !is_own_process()) return real();
    thread_state& thread = this_thread();
    if ((thread.inside > 0 && !may_record(thread)) || is_made_by_itself(thread, call_id::MPI_Abort)) return real();
    call_record record = blank_record(call_id::MPI_Abort);
    record.start = ticks();
    record.argument = code;
    const call_in_progress here(thread, record);
    pass_over(record, here.outer_function());
    this_process().aborts = true;
    tell_end(ending::abort);
    return real();
}

}  // namespace
}  // namespace mpi

HALCYON_WRAPPER(MPI_Init, int, (int* count, char*** arguments));
int halcyon_wrap_MPI_Init(int* count, char*** arguments) {
    return mpi::call<call_id::MPI_Init>(
        [] { return mpi::start_of_mpi{}; },
        [&](void*) { return HALCYON_REAL(MPI_Init, int, (int*, char***))(count, arguments); });
}

HALCYON_WRAPPER(MPI_Init_thread, int, (int* count, char*** arguments, int required, int* provided));
int halcyon_wrap_MPI_Init_thread(int* count, char*** arguments, int required, int* provided) {
    return mpi::call<call_id::MPI_Init_thread>(
        [] { return mpi::start_of_mpi{}; },
        [&](void*) {
            return HALCYON_REAL(MPI_Init_thread, int, (int*, char***, int, int*))(count, arguments, required, provided);
        });
}

HALCYON_WRAPPER(MPI_Finalize, int, ());
int halcyon_wrap_MPI_Finalize() {
    return mpi::call<call_id::MPI_Finalize>([] { return mpi::end_of_mpi{}; },
                                            [](void*) { return HALCYON_REAL(MPI_Finalize, int, ())(); });
}

HALCYON_WRAPPER(MPI_Abort, int, (mpi::handle communicator, int code));
int halcyon_wrap_MPI_Abort(mpi::handle communicator, int code) {
    return mpi::abort_after_recording(
        code, [&] { return HALCYON_REAL(MPI_Abort, int, (mpi::handle, int))(communicator, code); });
}

#define INIT(symbol)                                                                \
    HALCYON_WRAPPER(symbol, void, (int* error));                                    \
    void halcyon_wrap_##symbol(int* error) {                                        \
        mpi::call_fortran<call_id::MPI_Init>([] { return mpi::start_of_mpi{}; },    \
                                             [](void*, int* told) {                 \
                                                 HALCYON_REAL(symbol, void, (int*)) \
                                                 (told);                            \
                                             },                                     \
                                             error);                                \
    }
INIT(mpi_init_)
INIT(mpi_init_f08_)

#define INIT_THREAD(symbol)                                                                            \
    HALCYON_WRAPPER(symbol, void, (int* required, int* provided, int* error));                         \
    void halcyon_wrap_##symbol(int* required, int* provided, int* error) {                             \
        mpi::call_fortran<call_id::MPI_Init_thread>([] { return mpi::start_of_mpi{}; },                \
                                                    [&](void*, int* told) {                            \
                                                        HALCYON_REAL(symbol, void, (int*, int*, int*)) \
                                                        (required, provided, told);                    \
                                                    },                                                 \
                                                    error);                                            \
    }
INIT_THREAD(mpi_init_thread_)
INIT_THREAD(mpi_init_thread_f08_)

#define FINALIZE(symbol)                                                                \
    HALCYON_WRAPPER(symbol, void, (int* error));                                        \
    void halcyon_wrap_##symbol(int* error) {                                            \
        mpi::call_fortran<call_id::MPI_Finalize>([] { return mpi::end_of_mpi{}; },      \
                                                 [](void*, int* told) {                 \
                                                     HALCYON_REAL(symbol, void, (int*)) \
                                                     (told);                            \
                                                 },                                     \
                                                 error);                                \
    }
FINALIZE(mpi_finalize_)
FINALIZE(mpi_finalize_f08_)

#define ABORT(symbol)                                                                  \
    HALCYON_WRAPPER(symbol, void, (int* communicator, int* code, int* error));         \
    void halcyon_wrap_##symbol(int* communicator, int* code, int* error) {             \
        mpi::abort_after_recording(*code, [&] {                                        \
            HALCYON_REAL(symbol, void, (int*, int*, int*))(communicator, code, error); \
            return mpi::success;                                                       \
        });                                                                            \
    }
ABORT(mpi_abort_)
ABORT(mpi_abort_f08_)

}  // namespace halcyon::calls
