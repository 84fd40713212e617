#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "observe/trace/adaptive_bits.hpp"

/// Notes (notes.hpp) as bits of learnt probability: each byte given where in its note it stands and what stands before
/// it. For those that a process ends with, which for most processes are all.
namespace halcyon::observe::trace {

/// Writes them to `out`; returns how many bytes, 0 when they do not fit.
/// One call at a time in a process: what it needs besides is static.
size_t encode_notes(std::string_view notes, bit_model& model, std::span<unsigned char> out);

/// The opposite: fills `notes`, which is as long as they were. False when the bytes are not what would have been
/// written.
bool decode_notes(std::span<const unsigned char> bits, bit_model& model, std::span<char> notes);

}  // namespace halcyon::observe::trace
