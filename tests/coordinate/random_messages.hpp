#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "coordinate/protocol/fields.hpp"

namespace halcyon::coordinate {

/// Visitor of fields that gives each a value of its range, often one of the ends.
class random_fields {
  public:
    explicit random_fields(std::mt19937_64& random) : random_(random) {}

    template <class Integer, class Least, class Most>
    void whole(const char*, Integer& value, Least least, Most most, need) {
        const auto from = static_cast<uint64_t>(least);
        const auto to = static_cast<uint64_t>(most);
        value = static_cast<Integer>(end() ? (random_() % 2 != 0 ? from : to)
                                           : std::uniform_int_distribution<uint64_t>(from, to)(random_));
    }
    void number(const char*, double& value, double least, double most, need) {
        value = end() ? (random_() % 2 != 0 ? least : most)
                      : std::uniform_real_distribution<double>(least, std::min(most, 1e9))(random_);
    }
    void text(const char*, std::string& value, size_t shortest, size_t longest, need) {
        static constexpr std::string_view pieces[] = {"a", "\"", "\\",         "/", " ", "7",
                                                      "é", "時", "\U0001F300", "{", "'"};
        const size_t want =
            end() ? (random_() % 2 != 0 ? shortest : longest) : std::min(longest, shortest + random_() % 20);
        value.clear();
        while (value.size() < want) {
            const std::string_view piece = pieces[random_() % std::size(pieces)];
            value += value.size() + piece.size() <= want ? piece : "x";
        }
    }
    template <class Enumerator>
    void choice(const char*, Enumerator& value, std::span<const std::string_view> names, need) {
        value = static_cast<Enumerator>(random_() % names.size());
    }
    void wholes(const char*, std::vector<uint32_t>& values, size_t longest) {
        values.resize(length(longest));
        for (uint32_t& value : values) value = static_cast<uint32_t>(random_());
    }
    void numbers(const char*, std::vector<double>& values, size_t longest) {
        values.resize(length(longest));
        for (double& value : values) number("", value, -1e300, 1e300, need::optional);
    }
    void texts(const char*, std::vector<std::string>& values, size_t longest) {
        values.resize(std::min<size_t>(length(longest), 20));  // a line is not longer
        for (std::string& value : values) text("", value, 0, 200, need::optional);
    }

  private:
    bool end() { return random_() % 4 == 0; }
    size_t length(size_t longest) {
        return end() ? (random_() % 2 != 0 ? 0 : longest) : random_() % std::min<size_t>(longest, 9);
    }

    std::mt19937_64& random_;
};

template <class Variant, size_t... Index>
Variant default_message(size_t index, std::index_sequence<Index...>) {
    Variant made;
    ((Index == index ? void(made.template emplace<Index>()) : void()), ...);
    return made;
}

/// Of the type with this index, in its ranges.
template <class Variant>
Variant random_message(size_t index, std::mt19937_64& random) {
    Variant made = default_message<Variant>(index, std::make_index_sequence<std::variant_size_v<Variant>>());
    random_fields fill(random);
    std::visit([&](auto& message) { each_field(fill, message); }, made);
    return made;
}

}  // namespace halcyon::coordinate
