#include "calls/record/recorded_note.hpp"

#include <sys/auxv.h>

#include <cstring>

namespace halcyon::calls {

#ifdef HALCYON_STATIC_IO
namespace {

// A section of such a name becomes one of notes, which linkers keep whatever else they drop. Without alignas, the
// compiler would align it to 16 bytes: readelf takes such notes for damaged.
alignas(Elf64_Nhdr) [[gnu::section(".note.halcyon"), gnu::used]] constexpr recorded_note carried = own_note;

}  // namespace

bool program_records_itself() {
    return false;
}
#else
bool program_records_itself() {
    const auto* const headers = reinterpret_cast<const Elf64_Phdr*>(getauxval(AT_PHDR));
    const unsigned long count = getauxval(AT_PHNUM);
    if (headers == nullptr) return false;
    const char* base = nullptr;
    for (unsigned long i = 0; i < count; ++i) {
        if (headers[i].p_type == PT_PHDR) base = reinterpret_cast<const char*>(headers) - headers[i].p_vaddr;
        if (headers[i].p_type != PT_NOTE || base == nullptr) continue;
        const auto read = [notes = base + headers[i].p_vaddr](uint64_t at, recorded_note& note) {
            std::memcpy(&note, notes + at, sizeof note);
            return true;
        };
        if (holds_own_note(headers[i].p_memsz, headers[i].p_align, read)) return true;
    }
    return false;
}
#endif

}  // namespace halcyon::calls
