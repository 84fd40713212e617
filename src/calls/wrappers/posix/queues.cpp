// liburing and libaio, which make system calls of their own: that they are used is counted (unseen.hpp).
#include "calls/state/unseen.hpp"
#include "calls/wrappers/wrapper.hpp"

namespace halcyon::calls {
namespace {

/// Makes a call of a library, which may call others of these functions, or syscall(2); then `note(result)`.
template <class Call, class Note>
int counting(Call call, Note note) {
    if (unseen::counted_apart || !recording()) return call();
    unseen::counted_apart = true;
    const int result = call();
    unseen::counted_apart = false;
    note(result);
    return result;
}

/// `make()` returns a descriptor, 0, or an error below 0.
template <class Make>
int noting_ring(Make make) {
    return counting(make, [](int result) {
        if (result >= 0) unseen::ring_was_made();
    });
}

}  // namespace

HALCYON_WRAPPER(io_uring_setup, int, (unsigned entries, void* parameters));
int halcyon_wrap_io_uring_setup(unsigned entries, void* parameters) {
    return noting_ring([&] { return HALCYON_REAL(io_uring_setup, int, (unsigned, void*))(entries, parameters); });
}

HALCYON_WRAPPER(io_uring_queue_init, int, (unsigned entries, void* ring, unsigned flags));
int halcyon_wrap_io_uring_queue_init(unsigned entries, void* ring, unsigned flags) {
    return noting_ring(
        [&] { return HALCYON_REAL(io_uring_queue_init, int, (unsigned, void*, unsigned))(entries, ring, flags); });
}

HALCYON_WRAPPER(io_uring_queue_init_params, int, (unsigned entries, void* ring, void* parameters));
int halcyon_wrap_io_uring_queue_init_params(unsigned entries, void* ring, void* parameters) {
    return noting_ring([&] {
        return HALCYON_REAL(io_uring_queue_init_params, int, (unsigned, void*, void*))(entries, ring, parameters);
    });
}

HALCYON_WRAPPER(io_uring_queue_init_mem, int,
                (unsigned entries, void* ring, void* parameters, void* memory, size_t bytes));
int halcyon_wrap_io_uring_queue_init_mem(unsigned entries, void* ring, void* parameters, void* memory, size_t bytes) {
    return noting_ring([&] {
        return HALCYON_REAL(io_uring_queue_init_mem, int, (unsigned, void*, void*, void*, size_t))(
            entries, ring, parameters, memory, bytes);
    });
}

HALCYON_WRAPPER(io_submit, int, (void* queue, long count, void** requests));
int halcyon_wrap_io_submit(void* queue, long count, void** requests) {
    return counting([&] { return HALCYON_REAL(io_submit, int, (void*, long, void**))(queue, count, requests); },
                    [](int submitted) {
                        if (submitted > 0) unseen::requests_were_submitted(static_cast<uint64_t>(submitted));
                    });
}

}  // namespace halcyon::calls
