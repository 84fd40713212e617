#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace halcyon::offload {

/// Arithmetic over parameters, as in `nx/px + 2`: + - * / % and parentheses, unary minus, numbers, names (letters,
/// digits, '_', '-' not allowed inside names), and min(a,b), max(a,b), ceil(x). Division of two whole numbers rounds
/// down. Parsed once, evaluated without allocation.
class expression {
  public:
    /// Value of a name, or nullopt if there is none.
    using lookup = std::function<std::optional<double>(std::string_view name)>;

    /// The constant 0.
    expression() = default;

    /// Failure (kind config): what was expected at which column of `text`.
    static result<expression> parse(std::string_view text);

    /// Failure (kind config): unknown name, division by zero, a result that is NaN or infinite.
    [[nodiscard]] result<double> evaluate(const lookup& value_of) const;
    /// evaluate() and demand a whole number within ±2^53.
    [[nodiscard]] result<int64_t> evaluate_integer(const lookup& value_of) const;

    [[nodiscard]] const std::string& text() const { return text_; }
    /// The names used, each once.
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  private:
    /// Postfix program: the value stack has a fixed depth, checked by parse().
    struct instruction {
        enum class op : unsigned char { push, name, add, subtract, multiply, divide, modulo, negate, min, max, ceil };
        op what = op::push;
        unsigned short name = 0;
        double number = 0;
    };
    std::string text_ = "0";
    std::vector<std::string> names_;
    std::vector<instruction> program_{instruction{}};

    friend class expression_parser;
};

}  // namespace halcyon::offload
