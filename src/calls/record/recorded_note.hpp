#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>

namespace halcyon::calls {

/// The ELF note by which a program that was linked with libhalcyon-io.a tells whoever starts it that it records itself:
/// an owner, and nothing else.
struct recorded_note {
    Elf64_Nhdr header;
    char owner[8];  ///< with the zero behind it
};
inline constexpr recorded_note own_note{{sizeof recorded_note::owner, 0, 1}, "Halcyon"};

/// Whether the notes of a segment hold it. `read(at, note)` fills `note` from the segment's byte `at` on; false: it
/// cannot.
template <class Read>
[[nodiscard]] bool holds_own_note(uint64_t bytes, uint64_t alignment, Read read) {
    constexpr int most = 64;  // of a file that somebody spoiled
    const uint64_t unit = alignment == 8 ? 8 : 4;
    const auto padded = [unit](uint64_t length) { return (length + unit - 1) & ~(unit - 1); };
    recorded_note note{};
    uint64_t at = 0;
    for (int i = 0; i < most && at + sizeof note <= bytes; ++i) {
        if (!read(at, note)) return false;
        if (std::memcmp(&note, &own_note, sizeof note) == 0) return true;
        at += padded(padded(sizeof note.header + uint64_t{note.header.n_namesz}) + note.header.n_descsz);
    }
    return false;
}

/// Whether this process runs such a program, and what was preloaded into it has nothing to do: the program's calls
/// would be seen twice. Never true in libhalcyon-io.a itself.
[[nodiscard]] bool program_records_itself();

}  // namespace halcyon::calls
