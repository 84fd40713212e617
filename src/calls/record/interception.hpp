#pragma once

#include <cerrno>
#include <type_traits>

#include "calls/backends/as_result.hpp"
#include "calls/backends/mounts.hpp"
#include "calls/clocks/ticks.hpp"
#include "calls/record/call_circumstances.hpp"
#include "calls/record/call_table.hpp"
#include "calls/stacks/contexts.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/process_state.hpp"
#include "calls/state/real_function.hpp"

namespace halcyon::calls {

inline call_record blank_record(call_id id) {
    return {0, 0, 0, none, none, none, 0, 0, 0, 0, 0, 0, static_cast<uint16_t>(id), 0, 0};
}

/// Gives a call its place among the thread's calls for as long as it runs.
class call_in_progress {
  public:
    [[gnu::always_inline]] call_in_progress(thread_state& thread, call_record& record)
        : thread_(thread), outer_(thread.current), outer_function_(thread.function) {
        record.thread = thread.index;
        record.number = next_number(thread);
        // A function of POSIX makes none of these calls: a signal's handler does that interrupted it, or a clean-up of
        // a thread that was cancelled within it. Where a backend makes one, it says so (report_below).
        const bool made_by_outer = outer_ != 0 && entry_of(static_cast<uint16_t>(outer_function_)).at < level::posix;
        if (made_by_outer && record.parent == 0) record.parent = outer_;
        thread.current = record.number;
        thread.function = record.function;
    }
    [[gnu::always_inline]] ~call_in_progress() {
        thread_.current = outer_;
        thread_.function = outer_function_;
    }
    call_in_progress(const call_in_progress&) = delete;
    call_in_progress& operator=(const call_in_progress&) = delete;

    /// The function of the call during which this one is made, whatever its level.
    [[nodiscard]] call_id outer_function() const { return static_cast<call_id>(outer_function_); }

  private:
    // In one instruction: a signal handler that makes calls in between would get the same number.
    static uint32_t next_number(thread_state& thread) {
#if defined(__x86_64__)
        uint32_t added = 1;
        __asm__ volatile("xaddl %0, %1" : "+r"(added), "+m"(thread.number));
        return added + 1;
#else
        return __atomic_add_fetch(&thread.number, 1, __ATOMIC_RELAXED);
#endif
    }

    thread_state& thread_;
    uint32_t outer_;
    uint32_t outer_function_;
};

/// Results by which a function says that it failed, with the reason in errno.
template <class Result>
bool failed(Result result) {
    if constexpr (std::is_pointer_v<Result>)
        return result == nullptr;
    else
        return result == static_cast<Result>(-1);
}

template <class Result>
int64_t as_number(Result result) {
    if constexpr (std::is_pointer_v<Result>)
        return 0;
    else
        return static_cast<int64_t>(result);
}

/// For through_layers: the function alone tells under which circumstances it is called.
struct as_usual {
    void operator()(const call_record&, call_circumstances&) const {}
};

/// Makes the call itself, and fills in what it leads to.
template <class Function, class After>
[[gnu::always_inline]] inline auto make_call(call_record& called, bool timed, Function& function, After& after) {
    if (timed && called.start == 0) called.start = ticks();
    if constexpr (std::is_void_v<decltype(function())>) {
        function();
        if (timed) called.duration = ticks() - called.start;
        after(called, 0);
    } else {
        const auto result = function();
        if (timed) called.duration = ticks() - called.start;
        called.result = as_number(result);
        if (failed(result)) [[unlikely]]
            called.error = static_cast<uint16_t>(errno);
        after(called, result);
        return result;
    }
}

/// For through_layers: whether `after` may be left out where no layer looks at the record any more.
enum class after_call : bool { always, for_layers };

/// Sends one call through the layers: `function()` is the call itself, `after(record, result)` fills in what only its
/// result tells, `about(record, circumstances)` corrects those of its function. The record holds already what the
/// arguments tell. Within its caller: see entering_layer.
///
/// Nothing is made ready for a layer's invoke() before a layer has refused that the call enters it.
template <after_call when = after_call::always, class Function, class After, class About = as_usual>
[[gnu::always_inline]] inline auto through_layers(thread_state& thread, call_record& record, Function function,
                                                  After after, About about = {}) {
    using result_type = decltype(function());
    const call_in_progress here(thread, record);
    if (this_process().contexts) [[unlikely]]
        contexts::put_into(record);
    if (entering_layer* const only = this_process().layers.entered(); only != nullptr) {
        const uint64_t entered = only->enter(record);
        if (entered == entering_layer::let_go) {
            if constexpr (when == after_call::for_layers)
                return function();
            else
                return make_call(record, false, function, after);
        }
        if (entered != 0) [[likely]] {
            const bool timed = (entered & entering_layer::untimed) == 0;
            if constexpr (std::is_void_v<result_type>) {
                make_call(record, timed, function, after);
                only->leave(record, entered);
                return;
            } else {
                const auto result = make_call(record, timed, function, after);
                only->leave(record, entered);
                return result;
            }
        }
    }
    struct state_type {
        Function function;
        After after;
        About about;
        call_id outer;
        std::conditional_t<std::is_void_v<result_type>, int, result_type> result;
        bool ran;
    } state{function, after, about, here.outer_function(), {}, false};
    const auto run = [](void* opaque, call_record& called) {
        auto& made = *static_cast<state_type*>(opaque);
        made.ran = true;
        if constexpr (std::is_void_v<result_type>)
            make_call(called, true, made.function, made.after);
        else
            made.result = make_call(called, true, made.function, made.after);
    };
    const auto tell = [](const void* opaque, const call_record& called) {
        const auto& at = *static_cast<const state_type*>(opaque);
        call_circumstances found = usual_circumstances(called.function);
        if (called.parent != 0) found.parent_function = at.outer;
        at.about(called, found);
        return found;
    };
    this_process().layers.invoke(record, next_call(run, tell, &state));
    if (!state.ran) [[unlikely]]  // a layer keeps no call from being made
        run(&state, record);
    if constexpr (!std::is_void_v<result_type>) return state.result;
}

/// Corrects a function's usual circumstances by what the shape of this call knows: `may_block(arguments…)`, whether the
/// caller accepts to wait; `transfers(record)`, whether a call on a stream moves data. Shapes have them where they
/// differ from call to call.
template <class Shape, class... Arguments>
void tell_of([[maybe_unused]] const Shape& shape, [[maybe_unused]] const call_record& called, call_circumstances& found,
             [[maybe_unused]] Arguments... arguments) {
    if constexpr (requires { shape.may_block(arguments...); }) found.may_block = shape.may_block(arguments...);
    if constexpr (requires { shape.transfers(called); }) found.transfers = shape.transfers(called);
}

/// Of a shape whose `after` does no more than complete the record.
template <class Shape>
concept completes_record_only = requires {
    Shape::completes_record_only;
};

/// One call, made by `function()`: recorded, where calls are. Within the wrapper: see entering_layer.
///
/// Arguments go on by value: those that lie where a reference leads are stored before each call, and loaded again.
template <class Shape, call_id id, class Function, class... Arguments>
[[gnu::always_inline]] inline auto recorded_here(Function function, Arguments... arguments) {
    if (!recording()) [[unlikely]]
        return function();
    thread_state& thread = this_thread();
    if (thread.inside > 0 && !may_record(thread)) [[unlikely]]
        return function();
    call_record record = blank_record(id);
    [[maybe_unused]] Shape shape;
    if (!shape.before(record, arguments...)) return function();
    constexpr auto when = completes_record_only<Shape> ? after_call::for_layers : after_call::always;
    return through_layers<when>(
        thread, record, function,
        [=, &shape](call_record& called, [[maybe_unused]] auto result) { shape.after(called, result, arguments...); },
        [=, &shape](const call_record& called, call_circumstances& found) {
            tell_of(shape, called, found, arguments...);
        });
}

/// The same, apart.
template <class Shape, call_id id, class Function, class... Arguments>
auto recorded(Function function, Arguments... arguments) {
    return recorded_here<Shape, id>(function, arguments...);
}

/// For intercept: of functions that no file's backend answers.
struct by_kernel {
    static constexpr bool never = true;
};

/// What a function returns where it fails.
template <class Result>
constexpr Result failed_result() {
    if constexpr (std::is_pointer_v<Result>)
        return nullptr;
    else
        return static_cast<Result>(-1);
}

/// As intercept, in a process that has backends. An operation may hold paths: its stack is taken in no other process.
template <class Shape, call_id id, class Operation, class Result, class... Parameters>
[[gnu::noinline]] Result intercept_beside_backends(Result (*real)(Parameters...),
                                                   std::type_identity_t<Parameters>... arguments) {
    Operation operation;
    if (!operation.claims(arguments...)) return recorded<Shape, id>([&] { return real(arguments...); }, arguments...);
    return recorded<Shape, id>(
        [&] {
            const auto answer = [&] { return operation.perform(arguments...); };
            if constexpr (requires { operation.is_kernels_now(); }) {
                const auto done = backends::as_result<Result>(answer);
                // Others may make a plain file of it between the two.
                const bool is_left = done == failed_result<Result>() && errno == EBUSY && operation.is_kernels_now();
                return is_left ? real(arguments...) : done;
            } else {
                return backends::as_result<Result>(answer);
            }
        },
        arguments...);
}

/// A wrapper's body. A shape's `before(record, arguments…)` says from the arguments what is called, and returns false
/// for calls that nobody wants to see (of sockets, of /proc); `after(record, result, arguments…)` adds the rest.
/// `completes_record_only`, if a shape has it: `after` does no more than that, and nothing where no layer looks at it.
/// Whether a backend answers, and how, says `Operation` (wrappers/operations/operation.hpp), before anything is
/// recorded.
template <class Shape, call_id id, class Operation = by_kernel, class Result, class... Parameters>
[[gnu::always_inline]] inline Result intercept(Result (*real)(Parameters...),
                                               std::type_identity_t<Parameters>... arguments) {
    if (real == nullptr) [[unlikely]] {  // this C library has no such function
        errno = ENOSYS;
        if constexpr (std::is_void_v<Result>)
            return;
        else if constexpr (std::is_pointer_v<Result>)
            return nullptr;
        else
            return static_cast<Result>(-1);
    }
    if constexpr (!requires { Operation::never; }) {
        if (backends::present()) [[unlikely]]
            return intercept_beside_backends<Shape, id, Operation>(real, arguments...);
    }
    return recorded_here<Shape, id>(
        [=]() __attribute__((always_inline)) { return real(arguments...); }, arguments...);
}

/// Lets a call pass the layers that is over (`record` is complete): none can delay it any more. `outer`: the function
/// during whose call it was made.
inline void pass_over(call_record& record, call_id outer) {
    const auto tell = [](const void* opaque, const call_record& called) {
        call_circumstances found = usual_circumstances(called.function);
        found.may_block = false;
        if (called.parent != 0) found.parent_function = *static_cast<const call_id*>(opaque);
        return found;
    };
    this_process().layers.invoke(record, next_call([](void*, call_record&) {}, tell, &outer));
}

/// Hands the layers a call that was not made through a wrapper but is known to have happened (`record` is complete).
inline void report(thread_state& thread, call_record& record) {
    if (this_process().contexts) [[unlikely]]
        contexts::put_into(record);
    const call_in_progress here(thread, record);
    pass_over(record, here.outer_function());
}

}  // namespace halcyon::calls
