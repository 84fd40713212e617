#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace halcyon::offload {

/// All numbers from `low` to `high`.
struct interval {
    double low = 0;
    double high = 0;
    [[nodiscard]] bool is_point() const { return low == high; }
};

/// A number as messages show it: 3, 0.25, 1e+20, short, as a user would write it.
std::string show(double value);

/// Arithmetic over parameters, as in `nx/px + 2`: + - * / % and parentheses, unary minus, numbers, names (letters,
/// digits, '_'), and min(a,b), max(a,b), ceil(x). Parsed once, evaluated without allocation unless it fails.
///
/// Division of two whole numbers rounds down, but `ceil(a/b)` rounds their exact quotient up. `a % b` has the sign of
/// b. Arithmetic on whole numbers is exact: a result beyond ±2^53 is a failure, never rounded.
class expression {
  public:
    /// Value of a name, or nullopt if there is none.
    using lookup = std::function<std::optional<double>(std::string_view name)>;

    static constexpr size_t max_names = 16;   ///< different names in one expression
    static constexpr size_t max_text = 4096;  ///< bytes
    static constexpr int max_stack = 64;      ///< values that wait at once while evaluating; bounds nesting

    /// The constant 0.
    expression() = default;

    /// Failure (kind config): what was expected at which column (from 1) of `text`.
    static result<expression> parse(std::string_view text);

    /// Failure (kind config): unknown name, division by zero, a result that is NaN or infinite, whole numbers beyond
    /// ±2^53.
    [[nodiscard]] result<double> evaluate(const lookup& value_of) const;
    /// The same with `values[i]` the value of `names()[i]`.
    [[nodiscard]] result<double> evaluate(std::span<const double> values) const;
    /// evaluate() and demand a whole number within ±2^53.
    [[nodiscard]] result<int64_t> evaluate_integer(const lookup& value_of) const;
    [[nodiscard]] result<int64_t> evaluate_integer(std::span<const double> values) const;

    /// An interval that holds every value the expression takes while names()[i] stays in `values[i]`; it may be wider.
    /// nullopt: unbounded, or a divisor may be 0.
    [[nodiscard]] std::optional<interval> range(std::span<const interval> values) const;

    [[nodiscard]] const std::string& text() const { return text_; }
    /// The names used, each once.
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

    /// Where the owner of the expression finds the values of names(): one number per name, or empty when not set.
    /// The model uses it so that evaluation compares no strings.
    [[nodiscard]] std::span<const uint16_t> slots() const { return slots_; }
    void set_slots(std::vector<uint16_t> slots) { slots_ = std::move(slots); }

  private:
    /// Postfix program: the value stack has a fixed depth, checked by parse().
    struct instruction {
        enum class op : unsigned char {
            push,
            name,
            add,
            subtract,
            multiply,
            divide,
            divide_up,
            modulo,
            negate,
            min,
            max,
            ceil
        };
        op what = op::push;
        unsigned short name = 0;
        double number = 0;
    };

    std::string text_ = "0";
    std::vector<std::string> names_;
    std::vector<uint16_t> slots_;
    std::vector<instruction> program_{instruction{}};

    friend class expression_parser;
    friend struct exact_arithmetic;
    friend struct interval_arithmetic;
};

/// Whether `name` may name a parameter: a letter or '_', then letters, digits and '_' (ASCII), and not a function.
[[nodiscard]] bool is_parameter_name(std::string_view name);

}  // namespace halcyon::offload
