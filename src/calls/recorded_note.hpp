#pragma once

#include <elf.h>

namespace halcyon::calls {

/// The ELF note by which a program that was linked with libhalcyon-io.a tells whoever starts it that it records itself:
/// an owner, and nothing else.
struct recorded_note {
    Elf64_Nhdr header;
    char owner[8];  ///< with the zero behind it
};
inline constexpr recorded_note own_note{{sizeof recorded_note::owner, 0, 1}, "Halcyon"};

}  // namespace halcyon::calls
