#pragma once

#include <cstdint>

namespace halcyon::predict {

/// Nodes and symbols are named by indices of 24 bits.
using node_index = uint32_t;
using symbol_index = uint32_t;

constexpr unsigned index_bits = 24;
constexpr uint32_t index_mask = (1u << index_bits) - 1;
/// No node, no symbol.
constexpr uint32_t nothing = index_mask;

/// The start rule S is the first symbol that is made.
constexpr symbol_index start_rule = 0;

}  // namespace halcyon::predict
