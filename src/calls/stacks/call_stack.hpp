#pragma once

#include <cstddef>
#include <cstdint>

namespace halcyon::calls {

/// The return addresses of the functions that are under way in this thread, innermost first, without those of our own
/// library.
///
/// Stacks are walked by the program's unwind tables (frame_rule.hpp), as a debugger and an exception do; what the
/// tables say at an address is kept, and so are the ways that walks took. Nothing is allocated, no lock is taken,
/// nothing is opened, and no function of another library but find_loaded_object's is called: a walk may be interrupted
/// by another, and be made in a handler of a signal and in a child of fork at any moment. The walk ends, and the stack
/// with it, at
///   - the outermost function of the thread;
///   - code without unwind tables: at least its call of our function is known, whatever it was compiled with;
///   - the frame of a signal: where in the code a signal came is chance;
///   - `most` frames.
struct call_stack {
    static constexpr size_t most = 64;

    uintptr_t frames[most];
    size_t count;
    uint64_t hash;  ///< of `frames`, as they lie in this process; 0: there are none
};

/// Finds out where our own library lies. By the thread that starts a process' recording, before the first walk.
void prepare_call_stacks();

void walk_call_stack(call_stack& into);

/// The hash alone: of a stack that was walked before much sooner (walked_stacks.hpp).
[[nodiscard]] uint64_t call_stack_hash();

/// The same as walk_call_stack() for one frame alone: where our function was called from.
void walk_to_call_site(call_stack& into);

/// An object was unloaded: at addresses that are known another may lie next time.
void forget_frame_rules();

/// How often that happened.
uint32_t unloaded_objects();

}  // namespace halcyon::calls
