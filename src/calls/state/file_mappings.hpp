#pragma once

#include <cstddef>
#include <cstdint>

/// Which files are mapped where, for calls that name memory (msync, mremap). Bounded: of more than `capacity` shared
/// mappings the earliest are forgotten.
namespace halcyon::calls::file_mappings {

inline constexpr uint32_t capacity = 1024;

/// `bytes` from `at` show `file` (id of known_files).
void note(const void* at, size_t bytes, uint32_t file);

/// Nothing is shown there any more.
void forget(const void* at, size_t bytes);

/// The file that is shown at `at`; known_files::unknown where that is not known.
uint32_t file_at(const void* at);

}  // namespace halcyon::calls::file_mappings
