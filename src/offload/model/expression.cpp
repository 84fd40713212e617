#include "offload/model/expression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "base/closest_name.hpp"

namespace halcyon::offload {
namespace {

constexpr double exact_limit = 9007199254740992.0;  // 2^53: up to here every whole number is a double

bool is_whole(double v) {
    return std::fabs(v) <= exact_limit && v == std::trunc(v);
}

int64_t floor_divide(int64_t a, int64_t b) {
    const int64_t quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

double divide(double a, double b) {
    if (!is_whole(a) || !is_whole(b)) return a / b;
    return static_cast<double>(floor_divide(static_cast<int64_t>(a), static_cast<int64_t>(b)));
}

double divide_up(double a, double b) {
    if (!is_whole(a) || !is_whole(b)) return std::ceil(a / b);
    return 0 - static_cast<double>(floor_divide(-static_cast<int64_t>(a), static_cast<int64_t>(b)));
}

double modulo(double a, double b) {
    const double rest = std::fmod(a, b);  // exact, with the sign of a
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

enum class fault { none, division_by_zero, inexact, not_finite };

std::string_view in_words(fault f) {
    switch (f) {
        case fault::division_by_zero:
            return "divides by zero";
        case fault::inexact:
            return "exceeds 2^53, beyond which whole numbers are not exact";
        case fault::not_finite:
            return "is not a finite number";
        case fault::none:
            break;
    }
    return "";
}

}  // namespace

/// Evaluation with numbers.
struct exact_arithmetic {
    using op = expression::instruction::op;

    static double apply(op what, double a, double b, fault& why) {
        const bool whole = is_whole(a) && is_whole(b);
        double out = 0;
        switch (what) {
            case op::add:
                out = a + b;
                break;
            case op::subtract:
                out = a - b;
                break;
            case op::multiply:
                out = a * b;
                break;
            case op::divide:
            case op::divide_up:
            case op::modulo:
                if (b == 0)
                    why = fault::division_by_zero;
                else
                    out = what == op::modulo ? modulo(a, b) : what == op::divide ? divide(a, b) : divide_up(a, b);
                break;
            case op::min:
                out = std::min(a, b);
                break;
            case op::max:
                out = std::max(a, b);
                break;
            default:
                break;
        }
        if (why == fault::none && !std::isfinite(out)) why = fault::not_finite;
        if (why == fault::none && whole && std::fabs(out) > exact_limit) why = fault::inexact;
        return out;
    }

    static double run(const expression& e, std::span<const double> values, fault& why) {
        std::array<double, expression::max_stack> stack;  // parse() checked that it suffices
        stack[0] = 0;
        size_t top = 0;
        for (const auto& step : e.program_) {
            switch (step.what) {
                case op::push:
                    stack[top++] = step.number;
                    break;
                case op::name:
                    stack[top++] = values[step.name];
                    if (!std::isfinite(values[step.name])) why = fault::not_finite;
                    break;
                case op::negate:
                    stack[top - 1] = 0 - stack[top - 1];
                    break;
                case op::ceil:
                    stack[top - 1] = std::ceil(stack[top - 1]) + 0.0;
                    break;
                default:
                    --top;
                    stack[top - 1] = apply(step.what, stack[top - 1], stack[top], why);
            }
            if (why != fault::none) return 0;
        }
        return stack[0];
    }
};

/// Evaluation with intervals: the result holds every value that numbers within the operands could give.
struct interval_arithmetic {
    using op = expression::instruction::op;

    static interval hull(double a, double b, double c, double d) {
        return {std::min({a, b, c, d}), std::max({a, b, c, d})};
    }

    static std::optional<interval> apply(op what, interval a, interval b) {
        switch (what) {
            case op::add:
                return interval{a.low + b.low, a.high + b.high};
            case op::subtract:
                return interval{a.low - b.high, a.high - b.low};
            case op::multiply:
                return hull(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high);
            case op::divide:
            case op::divide_up: {
                if (b.low <= 0 && b.high >= 0) return std::nullopt;
                const interval q = hull(a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high);
                if (what == op::divide_up) return interval{std::ceil(q.low), std::ceil(q.high)};
                return interval{std::floor(q.low), q.high};  // whole numbers round down, others do not
            }
            case op::modulo:
                if (b.low <= 0 && b.high >= 0) return std::nullopt;
                if (b.low > 0 && a.low >= 0 && a.high < b.low) return a;
                return b.low > 0 ? interval{0, b.high} : interval{b.low, 0};
            case op::min:
                return interval{std::min(a.low, b.low), std::min(a.high, b.high)};
            case op::max:
                return interval{std::max(a.low, b.low), std::max(a.high, b.high)};
            default:
                return std::nullopt;
        }
    }

    static std::optional<interval> run(const expression& e, std::span<const interval> values) {
        std::array<interval, expression::max_stack> stack;
        size_t top = 0;
        for (const auto& step : e.program_) {
            switch (step.what) {
                case op::push:
                    stack[top++] = {step.number, step.number};
                    break;
                case op::name:
                    stack[top++] = values[step.name];
                    break;
                case op::negate:
                    stack[top - 1] = {0 - stack[top - 1].high, 0 - stack[top - 1].low};
                    break;
                case op::ceil:
                    stack[top - 1] = {std::ceil(stack[top - 1].low), std::ceil(stack[top - 1].high)};
                    break;
                default: {
                    --top;
                    const interval a = stack[top - 1];
                    const interval b = stack[top];
                    std::optional<interval> out;
                    if (a.is_point() && b.is_point()) {
                        fault why = fault::none;
                        const double exact = exact_arithmetic::apply(step.what, a.low, b.low, why);
                        if (why == fault::none) out = interval{exact, exact};
                    } else {
                        out = apply(step.what, a, b);
                    }
                    if (!out) return std::nullopt;
                    stack[top - 1] = *out;
                }
            }
            const interval& last = stack[top - 1];
            if (!std::isfinite(last.low) || !std::isfinite(last.high)) return std::nullopt;
        }
        return stack[0];
    }
};

result<double> expression::evaluate(std::span<const double> values) const {
    fault why = fault::none;
    const double out = exact_arithmetic::run(*this, values, why);
    if (why != fault::none) {
        return failure{error_kind::config, "'" + printable(text_) + "' " + std::string(in_words(why)), 0};
    }
    return out;
}

result<double> expression::evaluate(const lookup& value_of) const {
    std::array<double, max_names> values{};
    for (size_t i = 0; i < names_.size(); ++i) {
        const auto value = value_of(names_[i]);
        if (!value)
            return failure{error_kind::config, "no value for '" + names_[i] + "' in '" + printable(text_) + "'", 0};
        values[i] = *value;
    }
    return evaluate(std::span<const double>(values));
}

std::string show(double value) {
    std::ostringstream out;
    out.precision(12);
    out << value;
    return out.str();
}

namespace {

result<int64_t> whole_number(const result<double>& value, const std::string& text) {
    if (!value) return value.why();
    if (is_whole(*value)) return static_cast<int64_t>(*value);
    return failure{error_kind::config,
                   "'" + printable(text) + "' is " + show(*value) + "; expected a whole number within ±2^53", 0};
}

}  // namespace

result<int64_t> expression::evaluate_integer(const lookup& value_of) const {
    return whole_number(evaluate(value_of), text_);
}

result<int64_t> expression::evaluate_integer(std::span<const double> values) const {
    return whole_number(evaluate(values), text_);
}

std::optional<interval> expression::range(std::span<const interval> values) const {
    return interval_arithmetic::run(*this, values);
}

}  // namespace halcyon::offload
