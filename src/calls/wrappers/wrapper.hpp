#pragma once

#include "calls/record/interception.hpp"

/// Wrappers have names of their own in C++ and get the interposed symbol from the assembler, because the C library's
/// headers declare many of these functions in ways that differ from one release to the next.
///
/// HALCYON_REAL(symbol, …) is the function that a wrapper stands in front of; HALCYON_FOREIGN(symbol, …) one of the
/// application's libraries that nothing stands in front of. Both are null where there is none.
///
/// In a shared library the wrapper takes the function's name, and the real one is looked up. In the archive for static
/// programs the linker's --wrap does the renaming. There, a wrapper that nobody calls names a function that the program
/// may not have: it lies in a section of its own, and the linker drops that (--gc-sections).
#ifdef HALCYON_STATIC_IO
#define HALCYON_WRAPPER_SYMBOL(symbol) "__wrap_" #symbol
#define HALCYON_REAL(symbol, result, parameters)                                   \
    ([]() -> result(*) parameters {                                                \
        extern result halcyon_real_##symbol parameters __asm__("__real_" #symbol); \
        return &halcyon_real_##symbol;                                             \
    }())
// From the assembler, too: a declaration within a namespace without a name would be of a function of this file.
#if defined(__x86_64__)
#define HALCYON_LOAD_ADDRESS(symbol) "movq " #symbol "@GOTPCREL(%%rip), %0"
#else
#define HALCYON_LOAD_ADDRESS(symbol) "adrp %0, :got:" #symbol "\n\tldr %0, [%0, :got_lo12:" #symbol "]"
#endif
#define HALCYON_FOREIGN(symbol, result, parameters)                                    \
    ([]() -> result(*) parameters {                                                    \
        void* address;                                                                 \
        __asm__(".weak " #symbol "\n\t" HALCYON_LOAD_ADDRESS(symbol) : "=r"(address)); \
        return reinterpret_cast<result(*) parameters>(address);                        \
    }())
#else
#define HALCYON_WRAPPER_SYMBOL(symbol) #symbol
#define HALCYON_FOREIGN(symbol, result, parameters) HALCYON_REAL(symbol, result, parameters)
#define HALCYON_REAL(symbol, result, parameters)                          \
    ([]() -> result(*) parameters {                                       \
        static constinit ::halcyon::calls::library_symbol found(#symbol); \
        return reinterpret_cast<result(*) parameters>(found.address());   \
    }())
#endif

/// Declares the wrapper of `symbol`; its definition follows as that of halcyon_wrap_<symbol>.
#define HALCYON_WRAPPER(symbol, result, parameters)   \
    extern "C" __attribute__((visibility("default"))) \
    result halcyon_wrap_##symbol parameters __asm__(HALCYON_WRAPPER_SYMBOL(symbol))
