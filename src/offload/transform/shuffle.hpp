#pragma once

#include <cstddef>
#include <span>

namespace halcyon::offload {

/// Groups the first bytes of all elements, then the second ones, …: the byte order that HDF5's shuffle filter expects
/// and that makes neighbouring numbers compress well. `in` and `out` have equal size, a multiple of `element_bytes`,
/// and do not overlap.
void shuffle(std::span<const std::byte> in, std::span<std::byte> out, size_t element_bytes);

}  // namespace halcyon::offload
