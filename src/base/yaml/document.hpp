#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace halcyon::yaml {

enum class node_kind : uint8_t { null, boolean, integer, real, string, sequence, map };

/// "null", "true or false", "whole number", "number", "string", "list", "map": for messages.
[[nodiscard]] std::string_view name_of(node_kind kind);

struct map_entry;

/// One value of a YAML document. Plain scalars have the types of the YAML 1.2 core schema; quoted ones are strings.
struct node {
    node_kind kind = node_kind::null;
    int line = 0;                    ///< from 1; for lists and maps under a key: the key's line
    std::string text;                ///< scalars: as written, without quotes and escapes
    bool boolean = false;            ///< kind boolean
    int64_t integer = 0;             ///< kind integer
    double real = 0;                 ///< kinds real and integer; always finite
    std::vector<node> items;         ///< kind sequence
    std::vector<map_entry> entries;  ///< kind map, in the document's order; every key once

    /// The value of `key`; null when there is none or this is no map.
    [[nodiscard]] const node* find(std::string_view key) const;
    /// Like find(), for the entry with its key's line.
    [[nodiscard]] const map_entry* find_entry(std::string_view key) const;
};

struct map_entry {
    std::string key;
    int key_line = 0;
    node value;
};

/// What a document may cost. Exceeding one is a failure that names it.
struct limits {
    size_t bytes = size_t{64} << 20;
    int depth = 64;
    size_t nodes_from_aliases = 1'000'000;
};

/// Reads the only document of `text`. Failures (kind config), all as `file_name:line: …`: not YAML, empty, more than
/// one document, not UTF-8, control characters, a tab in the indentation, a key given twice or not a scalar, a number
/// that is infinite, NaN or beyond 64 bits, a tag other than YAML's own, a limit exceeded.
[[nodiscard]] result<node> parse(std::string_view text, std::string_view file_name, const limits& bounds = {});

}  // namespace halcyon::yaml
