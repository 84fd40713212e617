#pragma once

#include "calls/wrappers/wrapper.hpp"

/// Functions of which the C library keeps an old version, with its old behaviour, for programs that were linked long
/// ago. A wrapper without a version would serve both and call the new one; so these have the C library's versions, and
/// each calls its own. Only x86-64 is old enough.
#if defined(__x86_64__) && !defined(HALCYON_STATIC_IO)
#define HALCYON_OLD_VERSIONS
// NOLINTBEGIN(bugprone-macro-parentheses): `result` is a type
#define HALCYON_VERSION(symbol, result, parameters, version, at)                             \
    extern "C" __attribute__((visibility("default")))                                        \
    result halcyon_##symbol##_##version parameters __asm__("halcyon_" #symbol "_" #version); \
    __asm__(".symver halcyon_" #symbol "_" #version ", " #symbol at);
#define HALCYON_REAL_VERSION(symbol, result, parameters, version)                            \
    ([]() -> result(*) parameters {                                                          \
        static void* found = nullptr;                                                        \
        if (found == nullptr) found = ::halcyon::calls::find_real_version(#symbol, version); \
        return reinterpret_cast<result(*) parameters>(found);                                \
    }())
// NOLINTEND(bugprone-macro-parentheses)
#endif
