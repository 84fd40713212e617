#pragma once

#include "calls/interception.hpp"

/// Wrappers have names of their own in C++ and get the interposed symbol from the assembler, because the C library's
/// headers declare many of these functions in ways that differ from one release to the next.
///
/// HALCYON_REAL(symbol, …) is the function that a wrapper stands in front of; HALCYON_FOREIGN(symbol, …) one of the
/// application's libraries that nothing stands in front of. Both are null where there is none.
///
/// In a shared library the wrapper takes the function's name, and the real one is looked up. In the archive for static
/// programs the linker's --wrap does the renaming.
#ifdef HALCYON_STATIC_IO
#define HALCYON_WRAPPER_SYMBOL(symbol) "__wrap_" #symbol
#define HALCYON_REAL(symbol, result, parameters)                                                       \
    ([]() -> result(*) parameters {                                                                    \
        extern result halcyon_real_##symbol parameters __asm__("__real_" #symbol) __attribute__((weak)); \
        return &halcyon_real_##symbol;                                                                 \
    }())
#define HALCYON_FOREIGN(symbol, result, parameters)                                                  \
    ([]() -> result(*) parameters {                                                                  \
        extern result halcyon_foreign_##symbol parameters __asm__(#symbol) __attribute__((weak));    \
        return &halcyon_foreign_##symbol;                                                            \
    }())
#else
#define HALCYON_WRAPPER_SYMBOL(symbol) #symbol
#define HALCYON_FOREIGN(symbol, result, parameters) HALCYON_REAL(symbol, result, parameters)
#define HALCYON_REAL(symbol, result, parameters)                                                        \
    ([]() -> result(*) parameters {                                                                     \
        static void* found = nullptr;                                                                   \
        return reinterpret_cast<result(*) parameters>(::halcyon::calls::real_function(found, #symbol)); \
    }())
#endif

/// Declares the wrapper of `symbol`; its definition follows as that of halcyon_wrap_<symbol>.
#define HALCYON_WRAPPER(symbol, result, parameters)              \
    extern "C" __attribute__((visibility("default"))) result     \
        halcyon_wrap_##symbol parameters __asm__(HALCYON_WRAPPER_SYMBOL(symbol))
