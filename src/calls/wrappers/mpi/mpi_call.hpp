#pragma once

#include <cstring>

#include "calls/wrappers/mpi/mpi_library.hpp"

/// How a call of MPI becomes a record, whatever language it came from.
namespace halcyon::calls::mpi {

/// A status to look into after the call: the application's own, or one of ours where it ignores the status.
class status_place {
  public:
    status_place(void* given, language spoken) : used_(ignores(given, spoken) ? &own_ : given) {}
    [[nodiscard]] void* get() const { return used_; }

  private:
    status_room own_{};
    void* used_;
};

/// True when this call is what a Fortran function makes of itself: MPICH's call the C functions of the same name, Open
/// MPI's do not. Such a call is the same call.
inline bool is_made_by_itself(const thread_state& thread, call_id id) {
    return thread.current != 0 && thread.function == static_cast<uint32_t>(id);
}

/// Makes one call: `real(status)` is the call itself and returns its error code. `make()` gives a shape: an object with
/// `bool before(call_record&)`, false for calls that nobody wants to see, and `void after(call_record&, int result,
/// const void* status)`. `status`: the application's, null where the function has none.
template <call_id id, class Make, class Real>
int call(Make make, Real real, void* status = nullptr, language spoken = language::c) {
    if (!recording()) [[unlikely]]
        return real(status);
    thread_state& thread = this_thread();
    if ((thread.inside > 0 && !may_record(thread)) || is_made_by_itself(thread, id)) return real(status);
    if (!handles_are_known()) [[unlikely]]
        return real(status);
    call_record record = blank_record(id);
    auto shape = make();
    if (!shape.before(record)) return real(status);
    constexpr bool looks_at_status = requires {
        shape.wants_status;
    };
    if constexpr (looks_at_status) {
        const status_place place(status, spoken);
        return through_layers(
            thread, record, [&] { return real(place.get()); },
            [&](call_record& called, int result) {
                called.error = class_of_error(result);
                shape.after(called, result, place.get());
            });
    } else {
        return through_layers(
            thread, record, [&] { return real(status); },
            [&](call_record& called, int result) {
                called.error = class_of_error(result);
                shape.after(called, result, nullptr);
            });
    }
}

/// Zeroes what lies ahead on the stack, where the function that is called next will have its variables. MPICH's Fortran
/// MPI_File_open makes a handle of one of them that a failed open left unset (seen in 4.0.2); of zeros it makes
/// MPI_FILE_NULL, of what our calls left there a crash.
[[gnu::noinline]] inline void clear_stack_ahead() {
    char ahead[4096];
    std::memset(ahead, 0, sizeof ahead);
    asm volatile("" : : "r"(ahead) : "memory");
}

/// As call(), for a Fortran function: `real(status, &error)` leaves its error code in `error`, which is the
/// application's where it wants to know (in mpi_f08 it may leave that argument out).
template <call_id id, class Make, class Real>
void call_fortran(Make make, Real real, int* error, void* status = nullptr) {
    int unwanted = success;
    int* const told = error != nullptr ? error : &unwanted;
    const auto run = [&](void* used) {
        real(used, told);
        return *told;
    };
    *told = call<id>(make, run, status, language::fortran);
}

/// Text of Fortran: padded with blanks, as long as the compiler says.
class fortran_text {
  public:
    fortran_text(const char* text, size_t length) {
        while (length > 0 && text[length - 1] == ' ') --length;
        while (length > 0 && *text == ' ') ++text, --length;
        const size_t fitting = length < sizeof text_ ? length : sizeof text_ - 1;
        for (size_t i = 0; i < fitting; ++i) text_[i] = text[i];
        text_[fitting] = '\0';
    }
    [[nodiscard]] const char* get() const { return text_; }

  private:
    char text_[4096];
};

}  // namespace halcyon::calls::mpi
