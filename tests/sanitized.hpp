#pragma once

namespace halcyon::tests {

/// A sanitizer adds instructions, system calls and memory to what a test does, and ends a process that finds no memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

}  // namespace halcyon::tests
