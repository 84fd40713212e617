#pragma once

#include <cstddef>

/// Memory to which an application's call points. The kernel answers a bad pointer with an error, and programs rely on
/// that: they probe for a system call with null, say. What we look at before the kernel does, we look at in this way.
///
/// Memory that another thread unmaps between question and look is read all the same, and the application ends: it would
/// have had either result from its call, too.
namespace halcyon::calls::given {

/// Whether all of it can be read. A system call of some hundred nanoseconds for each page but the one that this
/// thread's stack ends in: not for what the kernel is known to have read, nor for data.
[[nodiscard]] bool is_readable(const void* at, size_t bytes);

inline constexpr size_t unreadable = ~size_t{0};

/// As strnlen; `unreadable` where the memory ends before the text does.
[[nodiscard]] size_t length_of_text(const char* text, size_t most);

/// Whether an environment, or arguments, can be read, with all texts. Null is an empty one.
[[nodiscard]] bool is_readable_list(const char* const* list);

/// A copy of what is there. False where it cannot be read.
template <class Value>
[[nodiscard]] bool read(const void* at, Value& out) {
    if (!is_readable(at, sizeof out)) return false;
    __builtin_memcpy(&out, at, sizeof out);
    return true;
}

}  // namespace halcyon::calls::given
