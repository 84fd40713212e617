#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace halcyon::yaml {

/// The words of a configuration for an enumeration.
template <class Enum, size_t N>
using word_table = std::array<std::pair<std::string_view, Enum>, N>;

template <class Enum, size_t N>
constexpr std::optional<Enum> value_of(const word_table<Enum, N>& table, std::string_view word) {
    for (const auto& [name, value] : table)
        if (name == word) return value;
    return std::nullopt;
}

template <class Enum, size_t N>
constexpr std::string_view word_of(const word_table<Enum, N>& table, Enum value) {
    for (const auto& [name, known] : table)
        if (known == value) return name;
    return "";
}

}  // namespace halcyon::yaml
