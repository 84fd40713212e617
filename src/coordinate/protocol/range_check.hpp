#pragma once

#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "coordinate/protocol/plain_text.hpp"
#include "coordinate/protocol/rejection.hpp"

namespace halcyon::coordinate {

/// A number as messages of errors show it.
inline std::string shown(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

/// Numbers in lists are bounded by this alone.
inline constexpr double largest_number = 1e300;

/// Ranges of values, the same ones for messages that are written and read. Keeps the first thing that is wrong.
class range_check {
  public:
    explicit range_check(std::string_view type) : type_(type) {}

    void wrong(const char* name, std::string value, std::string expected) {
        if (wrong_) return;
        wrong_ = {rejection::kind::wrong_field, std::string(type_) + "." + name, std::move(value), std::move(expected)};
    }
    template <class Integer, class Least, class Most>
    bool whole(const char* name, Integer value, Least least, Most most) {
        if (std::cmp_less_equal(least, value) && std::cmp_less_equal(value, most)) return true;
        wrong(name, std::to_string(value), whole_expected(least, most));
        return false;
    }
    bool number(const char* name, double value, double least, double most) {
        if (value >= least && value <= most) return true;  // neither holds of what is no number
        wrong(name, shown(value), number_expected(least, most));
        return false;
    }
    bool text(const char* name, std::string_view value, size_t shortest, size_t longest) {
        if (value.size() >= shortest && value.size() <= longest && is_plain_text(value)) return true;
        wrong(name, std::to_string(value.size()) + " bytes, '" + excerpt(value) + "'",
              text_expected(shortest, longest));
        return false;
    }
    bool length(const char* name, size_t length, size_t longest) {
        if (length <= longest) return true;
        wrong(name, "a list of " + std::to_string(length), "a list of at most " + std::to_string(longest));
        return false;
    }

    template <class Least, class Most>
    static std::string whole_expected(Least least, Most most) {
        return "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    }
    static std::string number_expected(double least, double most) {
        return "a number from " + shown(least) + " to " + shown(most);
    }
    static std::string text_expected(size_t shortest, size_t longest) {
        return "UTF-8 text of " + std::to_string(shortest) + " to " + std::to_string(longest) +
               " bytes without control characters";
    }
    static std::string choice_expected(std::span<const std::string_view> names) {
        std::string all = "one of";
        for (size_t i = 0; i < names.size(); ++i) all.append(i == 0 ? " " : ", ").append(names[i]);
        return all;
    }

    [[nodiscard]] const std::optional<rejection>& first_wrong() const { return wrong_; }

  private:
    std::string_view type_;
    std::optional<rejection> wrong_;
};

}  // namespace halcyon::coordinate
