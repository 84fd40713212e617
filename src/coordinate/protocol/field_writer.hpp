#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "coordinate/protocol/fields.hpp"
#include "coordinate/protocol/range_check.hpp"

namespace halcyon::coordinate {

/// Visitor of fields that writes them. What may be left out and says no more than the default of its field is left out.
class field_writer {
  public:
    /// `defaults`: default_numbers() of the message.
    field_writer(std::string_view type, std::span<const double> defaults) : check_(type), defaults_(defaults) {
        out_.reserve(usual_bytes);
        out_ += R"({"type":")";
        out_ += type;
        out_ += '"';
    }

    template <class Integer, class Least, class Most>
    void whole(const char* name, Integer value, Least least, Most most, need how) {
        if (is_default(static_cast<double>(value), how)) return;
        check_.whole(name, value, least, most);
        key(name);
        put(value);
    }
    void number(const char* name, double value, double least, double most, need how) {
        if (is_default(value, how)) return;
        if (!check_.number(name, value, least, most)) return;
        key(name);
        put(value);
    }
    void text(const char* name, std::string_view value, size_t shortest, size_t longest, need how) {
        if (value.empty() && how == need::optional) return;
        check_.text(name, value, shortest, longest);
        key(name);
        put(value);
    }
    template <class Enumerator>
    void choice(const char* name, Enumerator value, std::span<const std::string_view> names, need how) {
        const auto index = static_cast<size_t>(value);
        if (is_default(static_cast<double>(index), how)) return;
        if (index >= names.size())
            return check_.wrong(name, std::to_string(index), range_check::choice_expected(names));
        key(name);
        put(names[index]);
    }
    void wholes(const char* name, const std::vector<uint32_t>& values, size_t longest) {
        list(name, values, longest, [&](uint32_t value) { put(value); });
    }
    void numbers(const char* name, const std::vector<double>& values, size_t longest) {
        list(name, values, longest, [&](double value) {
            if (check_.number(name, value, -largest_number, largest_number)) put(value);
        });
    }
    void texts(const char* name, const std::vector<std::string>& values, size_t longest) {
        list(name, values, longest, [&](const std::string& value) {
            check_.text(name, value, 0, longest_name);
            put(value);
        });
    }

    decoded<std::string> line() {
        if (check_.first_wrong()) return *check_.first_wrong();
        out_ += '}';
        if (out_.size() > longest_line)
            return rejection{rejection::kind::not_json, "line", std::to_string(out_.size()) + " bytes",
                             "at most " + std::to_string(longest_line)};
        return std::move(out_);
    }

  private:
    static constexpr size_t usual_bytes = 256;

    /// To be asked once of each number. Defaults are so small that no other whole number becomes the same.
    bool is_default(double value, need how) { return value == defaults_[at_++] && how == need::optional; }
    /// Names of fields hold nothing that JSON writes in another way.
    void key(std::string_view name) {
        out_ += ",\"";
        out_ += name;
        out_ += "\":";
    }
    /// Without control characters: all that is left to be written in another way are these two.
    void put(std::string_view text) {
        out_ += '"';
        for (const char c : text) {
            if (c == '"' || c == '\\') out_ += '\\';
            out_ += c;
        }
        out_ += '"';
    }
    /// As few digits as give back the same number.
    template <class Number>
    requires std::is_arithmetic_v<Number>
    void put(Number value) {
        std::array<char, 32> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        out_.append(digits.data(), end);
    }

    /// Lists that are empty are left out.
    template <class Value, class Put>
    void list(const char* name, const std::vector<Value>& values, size_t longest, Put put_value) {
        if (values.empty() || !check_.length(name, values.size(), longest)) return;
        key(name);
        char before = '[';
        for (const Value& value : values) {
            out_ += before;
            put_value(value);
            before = ',';
        }
        out_ += ']';
    }

    range_check check_;
    std::span<const double> defaults_;
    size_t at_ = 0;  ///< in `defaults_`
    std::string out_;
};

}  // namespace halcyon::coordinate
