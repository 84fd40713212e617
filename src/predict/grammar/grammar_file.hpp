#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "halcyon/error.hpp"
#include "predict/grammar/grammar.hpp"

namespace halcyon::predict {

/// How a grammar is kept in a file, in version 1. All numbers are little endian, wherever they are written:
///
///     offset  bytes
///          0      8  "HALCGRAM"
///          8      4  version
///         12      4  1: it had been full, and may have digrams twice; otherwise 0
///         16      4  terminals T
///         20      4  rules R, S included
///         24      8  runs N, of all bodies
///         32      8  length of the input
///         40      8  symbols that were not learnt
///         48      8  check sum of everything else
///         56    4·T  the terminals
///                4·R  runs of each rule's body; S is the first rule
///               12·N  the bodies: symbol (4: below T a terminal, otherwise T + rule) and exponent (8)
constexpr uint32_t grammar_file_version = 1;

/// Of a whole file, which has 56 bytes at least: of all bytes but those of the check sum.
[[nodiscard]] uint64_t model_check_sum(std::span<const unsigned char> bytes);

/// Bytes of the file.
[[nodiscard]] size_t saved_bytes(const grammar& g);

/// Writes the file into `out`, which has saved_bytes(g). False when there is no memory for 4 bytes a symbol. Whoever
/// puts it on a disk does so whole (base/replace_file.hpp), as nothing in it can be salvaged.
[[nodiscard]] bool save(const grammar& g, std::span<unsigned char> out);

/// Bytes that say whether the rest is worth reading.
inline constexpr size_t grammar_header_bytes = 56;

/// What is wrong with a file that begins so and has `file_bytes`.
[[nodiscard]] std::optional<failure> check_grammar_header(std::span<const unsigned char> begin, uint64_t file_bytes,
                                                          std::string_view file);

/// Fills `into`, on which nothing was learnt yet, from the file's bytes; `file` is its name, for messages. Every byte
/// is taken for possibly wrong: a failure (config) names the file, the offset and what is wrong there. Memory: the
/// grammar's bound, and some 24 bytes for each symbol meanwhile. What had been full is put in order, and may learn
/// again if the bound allows. A failure of kind usage: the grammar was not new, or its bound is too small. After any
/// failure it is of no use.
[[nodiscard]] std::optional<failure> load(grammar& into, std::span<const unsigned char> bytes, std::string_view file);

}  // namespace halcyon::predict
