#include "offload/model/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <random>

namespace halcyon::offload {
namespace {

const std::map<std::string, double, std::less<>> values{{"nx", 64}, {"px", 3}, {"zero", 0}, {"h", 0.5}, {"n_1", -7}};

std::optional<double> value_of(std::string_view name) {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional<double>(found->second);
}

double evaluate(std::string_view text) {
    return expression::parse(text).value().evaluate(value_of).value();
}

std::string parse_refusal(std::string_view text) {
    const auto parsed = expression::parse(text);
    return parsed.ok() ? "accepted" : parsed.why().message;
}

std::string refusal(std::string_view text) {
    const auto value = expression::parse(text).value().evaluate(value_of);
    return value.ok() ? "accepted" : value.why().message;
}

TEST(expression, follows_precedence_from_left_to_right) {
    EXPECT_EQ(evaluate("1 + 2 * 3"), 7);
    EXPECT_EQ(evaluate("(1 + 2) * 3"), 9);
    EXPECT_EQ(evaluate("10 - 4 - 3"), 3);
    EXPECT_EQ(evaluate("100 / 10 / 2"), 5);
    EXPECT_EQ(evaluate("2 * 7 % 4"), 2);
    EXPECT_EQ(evaluate("-2 * -3"), 6);
    EXPECT_EQ(evaluate("--2"), 2);
    EXPECT_EQ(evaluate("3 - -2"), 5);
    EXPECT_EQ(evaluate("nx/px+2"), 23);
    EXPECT_EQ(evaluate("1e3 + .5"), 1000.5);
}

TEST(expression, whole_numbers_divide_downwards) {
    EXPECT_EQ(evaluate("7 / 2"), 3);
    EXPECT_EQ(evaluate("-7 / 2"), -4);
    EXPECT_EQ(evaluate("7 / -2"), -4);
    EXPECT_EQ(evaluate("7 % 3"), 1);
    EXPECT_EQ(evaluate("n_1 % 3"), 2);
    EXPECT_EQ(evaluate("7 % -3"), -2);
    EXPECT_EQ(evaluate("7 / 2.5"), 2.8);
    EXPECT_EQ(evaluate("7.5 % 2"), 1.5);
    EXPECT_EQ(evaluate("9007199254740991 / 2"), 4503599627370495);
}

TEST(expression, has_three_functions) {
    EXPECT_EQ(evaluate("min(nx, px) + max(1, 2) * ceil(h * 5)"), 3 + 2 * 3);
    EXPECT_EQ(evaluate("ceil(nx/px)"), 22);
    EXPECT_EQ(evaluate("ceil((-nx)/px)"), -21);
    EXPECT_EQ(evaluate("ceil(nx/8)"), 8);
    EXPECT_EQ(evaluate("ceil(nx/px + 0)"), 21);
    EXPECT_EQ(evaluate("ceil(nx/2.5)"), 26);
    EXPECT_EQ(evaluate("ceil(-0.5)"), 0);
    EXPECT_EQ(evaluate("min ( 1 , max(5, 4) )"), 1);
}

TEST(expression, names_are_listed_once) {
    const auto e = expression::parse("nx / px + nx * ny").value();
    EXPECT_EQ(e.names(), (std::vector<std::string>{"nx", "px", "ny"}));
    EXPECT_EQ(e.text(), "nx / px + nx * ny");
    const std::vector<double> own{12, 3, 2};
    EXPECT_EQ(e.evaluate(own).value(), 28);
    EXPECT_EQ(e.evaluate_integer(own).value(), 28);
}

TEST(expression, the_default_is_zero) {
    EXPECT_EQ(expression().evaluate(value_of).value(), 0);
}

TEST(expression, syntax_errors_say_what_was_expected_where) {
    EXPECT_EQ(parse_refusal(""), "expected a number, a name or '(' at column 1 of ''");
    EXPECT_EQ(parse_refusal("nx *"), "expected a number, a name or '(' at column 5 of 'nx *'");
    EXPECT_EQ(parse_refusal("nx ny"), "expected an operator or the end at column 4 of 'nx ny'");
    EXPECT_EQ(parse_refusal("(nx"), "expected ')' at column 4 of '(nx'");
    EXPECT_EQ(parse_refusal("nx)"), "expected an operator or the end at column 3 of 'nx)'");
    EXPECT_EQ(parse_refusal("2nx"), "expected an operator or the end at column 2 of '2nx'");
    EXPECT_EQ(parse_refusal("0x10"), "expected an operator or the end at column 2 of '0x10'");
    EXPECT_EQ(parse_refusal("sin(nx)"), "expected one of the functions min, max and ceil at column 1 of 'sin(nx)'");
    EXPECT_EQ(parse_refusal("max(nx)"), "expected ',' at column 7 of 'max(nx)'");
    EXPECT_EQ(parse_refusal("max + 1"), "expected '(' at column 5 of 'max + 1'");
    EXPECT_EQ(parse_refusal("ceil(1, 2)"), "expected ')' at column 7 of 'ceil(1, 2)'");
    EXPECT_EQ(parse_refusal("min(nx"),
              "expected ',' at column 7 of 'min(nx'; an expression with a comma must be quoted");
    EXPECT_EQ(parse_refusal("nx ^ 2"), "expected an operator or the end at column 4 of 'nx ^ 2'");
    EXPECT_EQ(parse_refusal("1e999"), "expected a number at column 1 of '1e999'");
    EXPECT_EQ(parse_refusal("."), "expected a number at column 1 of '.'");
}

TEST(expression, size_is_bounded) {
    EXPECT_EQ(parse_refusal(std::string(1000, '(') + "1" + std::string(1000, ')')),
              "the expression is nested too deeply");
    EXPECT_EQ(parse_refusal(std::string(60, '(') + "1" + std::string(60, ')')), "accepted");
    std::string right = "1";
    for (int i = 0; i < 70; ++i) right = "2+(" + right + ")";
    EXPECT_EQ(parse_refusal(right), "the expression is nested too deeply");
    EXPECT_EQ(parse_refusal(std::string(4000, '-') + "1"), "accepted");
    EXPECT_EQ(parse_refusal(std::string(5000, '-') + "1"), "the expression is longer than 4096 bytes");
    std::string many = "a0";
    for (int i = 1; i < 17; ++i) many += "+a" + std::to_string(i);
    EXPECT_EQ(parse_refusal(many), "the expression uses more than 16 names");
}

TEST(expression, values_that_are_no_numbers_are_failures) {
    EXPECT_EQ(refusal("nx + q"), "no value for 'q' in 'nx + q'");
    EXPECT_EQ(refusal("nx / zero"), "'nx / zero' divides by zero");
    EXPECT_EQ(refusal("nx % zero"), "'nx % zero' divides by zero");
    EXPECT_EQ(refusal("1e308 * 10.5"), "'1e308 * 10.5' is not a finite number");
    EXPECT_EQ(refusal("9007199254740992 + 1"), "accepted");
    EXPECT_EQ(refusal("9007199254740992 + 2"),
              "'9007199254740992 + 2' exceeds 2^53, beyond which whole numbers are not exact");
    const auto e = expression::parse("x").value();
    const std::vector<double> infinite{INFINITY};
    EXPECT_EQ(e.evaluate(infinite).why().message, "'x' is not a finite number");
    EXPECT_EQ(expression::parse("h * 3").value().evaluate_integer(value_of).why().message,
              "'h * 3' is 1.5; expected a whole number within ±2^53");
    EXPECT_EQ(expression::parse("1e300").value().evaluate_integer(value_of).ok(), false);
}

// ---- random expressions against an independent evaluation -------------------------------------------------------

struct tree {
    char what = 'k';  ///< k constant, v variable, + - * / %, n negate, m min, M max, c ceil
    int64_t number = 0;
    std::unique_ptr<tree> a, b;
};

std::unique_ptr<tree> grow(std::mt19937& random, int depth) {
    auto out = std::make_unique<tree>();
    if (depth == 0 || random() % 5 == 0) {
        out->what = random() % 2 == 0 ? 'k' : 'v';
        out->number = out->what == 'k' ? static_cast<int64_t>(random() % 50) : static_cast<int64_t>(random() % 3);
        return out;
    }
    out->what = "+-*/%+-*/%nmMc"[random() % 14];
    out->a = grow(random, depth - 1);
    if (out->what != 'n' && out->what != 'c') out->b = grow(random, depth - 1);
    return out;
}

int level(char what) {
    return what == '+' || what == '-' ? 1 : what == '*' || what == '/' || what == '%' ? 2 : what == 'n' ? 3 : 4;
}

/// Text with the fewest parentheses, so that precedence and associativity are put to the test.
std::string print(const tree& t, std::mt19937& random) {
    const auto blank = [&] { return std::string(random() % 2, ' '); };
    const auto inner = [&](const tree& child, int needed) {
        const std::string text = print(child, random);
        return level(child.what) < needed ? "(" + text + ")" : text;
    };
    switch (t.what) {
        case 'k':
            return std::to_string(t.number);
        case 'v':
            return "v" + std::to_string(t.number);
        case 'n':
            return "-" + blank() + inner(*t.a, 3);
        case 'c':
            return "ceil(" + print(*t.a, random) + blank() + ")";
        case 'm':
            return "min(" + print(*t.a, random) + "," + print(*t.b, random) + ")";
        case 'M':
            return "max(" + print(*t.a, random) + blank() + "," + blank() + print(*t.b, random) + ")";
        default:
            return inner(*t.a, level(t.what)) + blank() + t.what + blank() + inner(*t.b, level(t.what) + 1);
    }
}

/// Whole-number arithmetic in 128 bits; nullopt where the expression must fail.
std::optional<__int128> oracle(const tree& t, const std::vector<double>& v) {
    if (t.what == 'k') return t.number;
    if (t.what == 'v') return static_cast<__int128>(v[static_cast<size_t>(t.number)]);
    const bool up = t.what == 'c' && t.a->what == '/';
    const auto a = oracle(up ? *t.a->a : *t.a, v);
    const auto b = up ? oracle(*t.a->b, v) : t.b ? oracle(*t.b, v) : std::optional<__int128>(0);
    if (!a || !b) return std::nullopt;
    const auto floor_quotient = [&] {
        __int128 q = *a / *b;
        while (q * *b > *a && *b > 0) --q;
        while (q * *b < *a && *b < 0) --q;
        return q;
    };
    __int128 out = 0;
    switch (t.what) {
        case '+':
            out = *a + *b;
            break;
        case '-':
            out = *a - *b;
            break;
        case '*':
            out = *a * *b;
            break;
        case 'n':
            out = -*a;
            break;
        case 'c':
            if (up && *b == 0) return std::nullopt;
            out = up ? floor_quotient() : *a;
            if (up && out * *b != *a) ++out;
            break;
        case 'm':
            out = std::min(*a, *b);
            break;
        case 'M':
            out = std::max(*a, *b);
            break;
        default:
            if (*b == 0) return std::nullopt;
            out = t.what == '/' ? floor_quotient() : *a - *b * floor_quotient();
    }
    const __int128 limit = __int128{1} << 53;
    if (out > limit || out < -limit) return std::nullopt;
    return out;
}

TEST(expression, random_expressions_equal_an_independent_evaluation) {
    std::mt19937 random(7);
    int evaluated = 0;
    int failed = 0;
    for (int i = 0; i < 20'000; ++i) {
        const auto t = grow(random, 1 + static_cast<int>(random() % 6));
        const std::string text = print(*t, random);
        const auto parsed = expression::parse(text);
        ASSERT_TRUE(parsed.ok()) << parsed.why().message;
        const std::vector<double> v{static_cast<double>(random() % 2000) - 1000, static_cast<double>(random() % 10),
                                    static_cast<double>(random() % 1'000'000'000)};
        std::vector<double> bound;
        for (const std::string& name : parsed->names()) bound.push_back(v[static_cast<size_t>(name[1] - '0')]);
        const auto value = parsed->evaluate_integer(bound);
        const auto wanted = oracle(*t, v);
        ASSERT_EQ(value.ok(), wanted.has_value()) << text;
        if (wanted) {
            ASSERT_EQ(*value, static_cast<int64_t>(*wanted)) << text;
        }
        ++(wanted ? evaluated : failed);
    }
    EXPECT_GT(evaluated, 10'000);
    EXPECT_GT(failed, 100);
}

TEST(expression, ranges_hold_every_value) {
    std::mt19937 random(8);
    int bounded = 0;
    for (int i = 0; i < 5'000; ++i) {
        const auto t = grow(random, 1 + static_cast<int>(random() % 4));
        const auto parsed = expression::parse(print(*t, random)).value();
        std::vector<interval> ranges;
        for (size_t k = 0; k < parsed.names().size(); ++k) {
            const double low = static_cast<double>(random() % 40) / 2 - 10;
            ranges.push_back({low, low + static_cast<double>(random() % 20) / 2});
        }
        const auto range = parsed.range(ranges);
        if (!range) continue;
        ++bounded;
        for (int sample = 0; sample < 10; ++sample) {
            std::vector<double> point;
            for (const interval& r : ranges) {
                point.push_back(r.low + (r.high - r.low) * static_cast<double>(random() % 5) / 4);
            }
            const auto value = parsed.evaluate(point);
            if (!value.ok()) continue;
            ASSERT_GE(*value, range->low) << parsed.text();
            ASSERT_LE(*value, range->high) << parsed.text();
        }
    }
    EXPECT_GT(bounded, 2'000);
}

}  // namespace
}  // namespace halcyon::offload
