#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace halcyon {

/// CRC-32C (Castagnoli, RFC 3720) of `bytes`, which follow others whose sum is `before`; 0: of `bytes` alone. By the
/// processor's instruction where it has one.
[[nodiscard]] uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before = 0);

/// Likewise, of what it copies, in whole words of 8 bytes: each is loaded once, so that it may have been stored a
/// moment ago, and stored once. `to` does not overlap it.
[[nodiscard]] uint32_t copy_with_crc32c(std::byte* to, std::span<const std::byte> words, uint32_t before = 0);

/// The same without the instruction.
[[nodiscard]] uint32_t crc32c_by_table(std::span<const std::byte> bytes, uint32_t before = 0);

}  // namespace halcyon
