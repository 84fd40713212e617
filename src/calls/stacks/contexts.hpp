#pragma once

#include "calls/record/call_record.hpp"
#include "calls/state/process_state.hpp"

/// The contexts of calls: a number for the call stack from which each was made.
///
/// The number is a hash of the stack's frames as they stand in their objects (base name of the object, distance from
/// its load address), so that it is the same in all runs of the same binaries, on all nodes, wherever they are loaded.
/// No two stacks of a process have the same: of two with one hash the later takes the next free number. (By itself
/// that happens once in some hundred processes with ten thousand stacks each.)
///
/// A recursion makes another stack at each depth, and thus another context, up to the depth of call_stack::most frames;
/// from there on stacks differ only in their innermost frames. A process may make so many stacks that way, or by
/// several ways through a recursion, that there is no more room for them (`most_stacks`): of the others the call site
/// alone is the context, and how often that was so is told as an absence at the process' end.
///
/// Tables of atomic words hold the stacks that are known. They are written and read without locks; a place is taken
/// once and never given back. In a child of fork they hold what its parent knew, and nothing of that counts as told.
namespace halcyon::calls::contexts {

inline constexpr uint32_t most_stacks = 65536;

/// Decides whether calls of this process get contexts: when one of its layers wants them. By the thread that starts its
/// recording.
void start();

/// The number of what would be told at the end: calls whose stack found no room.
uint64_t take_unkept();

/// Gives `record` its context where it is of a function that gets one (open, close, read, write, copy and sync, of the
/// levels stdio and posix) and has none yet.
void put_into(call_record& record);

}  // namespace halcyon::calls::contexts
