// Static programs carry it; linkers keep notes whatever else they drop.
#ifdef HALCYON_STATIC_IO
#include "calls/recorded_note.hpp"

static_assert(sizeof halcyon::calls::recorded_note::owner == 8 && halcyon::calls::recorded_note::type == 1);
__asm__(
    ".pushsection .note.halcyon, \"a\", %note\n"
    ".balign 4\n"
    ".long 8, 0, 1\n"  // sizes of owner and descriptor, type
    ".asciz \"" HALCYON_NOTE_OWNER
    "\"\n"
    ".popsection\n");
#endif
