#pragma once

#include <cstdint>

namespace halcyon::calls {

/// Finds the function that an interposed symbol stands in front of: the next one of that name in the order in which the
/// dynamic linker searches, or else in any library that was loaded (also one that was loaded for itself alone, as
/// Python does with its extension modules). Null where there is none.
void* find_real_function(const char* symbol);

/// The same of one version of it, such as "GLIBC_2.2.5". Null where there is none.
void* find_real_version(const char* symbol, const char* version);

/// `slot` holds the address once it was found.
inline void* real_function(void*& slot, const char* symbol) {
    if (slot == nullptr) [[unlikely]]
        slot = find_real_function(symbol);
    return slot;
}

}  // namespace halcyon::calls
