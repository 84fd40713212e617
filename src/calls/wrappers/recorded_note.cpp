// Static programs carry it. A section of such a name becomes one of notes, which linkers keep whatever else they drop.
#ifdef HALCYON_STATIC_IO
#include "calls/recorded_note.hpp"

namespace halcyon::calls {
namespace {

// Without alignas, the compiler would align it to 16 bytes: readelf takes such notes for damaged.
alignas(Elf64_Nhdr) [[gnu::section(".note.halcyon"), gnu::used]] constexpr recorded_note carried = own_note;

}  // namespace
}  // namespace halcyon::calls
#endif
