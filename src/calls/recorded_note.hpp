#pragma once

#include <cstdint>

/// The ELF note by which a program that was linked with libhalcyon-io.a tells whoever starts it that it records itself.
#define HALCYON_NOTE_OWNER "Halcyon"

namespace halcyon::calls::recorded_note {

inline constexpr char owner[] = HALCYON_NOTE_OWNER;  ///< the note's name, with the zero behind it
inline constexpr uint32_t type = 1;                  ///< without a descriptor

}  // namespace halcyon::calls::recorded_note
