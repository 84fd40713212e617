#pragma once

#include <atomic>
#include <cstddef>
#include <type_traits>

namespace halcyon {

/// For static_assert beside a type that two processes share, be it in memory that both map, in a file, or as a message.
/// They may be different programs (a simulation, a server, a reader), compiled by different compilers: each must see
/// the same bytes. Whoever changes such a type changes the numbers here, and the version that the two sides compare.
template <class T, size_t bytes, size_t alignment>
consteval bool has_shared_layout() {
    static_assert(std::is_standard_layout_v<T>);
    static_assert(std::is_trivially_destructible_v<T>);
    static_assert(sizeof(T) == bytes);
    static_assert(alignof(T) == alignment);
    return true;
}

/// Likewise of a type that is copied byte by byte.
template <class T, size_t bytes, size_t alignment>
consteval bool has_copied_layout() {
    static_assert(std::is_trivially_copyable_v<T>);
    return has_shared_layout<T, bytes, alignment>();
}

/// An atomic that takes a lock takes one of its own process, which keeps no other process out.
template <class... T>
inline constexpr bool are_shared_atomics = (std::atomic<T>::is_always_lock_free && ...) &&
                                           ((sizeof(std::atomic<T>) == sizeof(T)) && ...);

}  // namespace halcyon
