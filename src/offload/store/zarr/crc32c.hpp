#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace halcyon::offload::zarr {

/// CRC-32C (Castagnoli), as RFC 3720 has it in appendix B.4: what Zarr's codec of this name stores behind a chunk.
[[nodiscard]] uint32_t crc32c(std::span<const std::byte> bytes);

}  // namespace halcyon::offload::zarr
