#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "base/closest_name.hpp"
#include "offload/model/expression.hpp"

namespace halcyon::offload {
namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_function(std::string_view name) {
    return name == "min" || name == "max" || name == "ceil";
}

}  // namespace

bool is_parameter_name(std::string_view name) {
    return !name.empty() && is_letter(name[0]) && !is_function(name) &&
           std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

/// Recursive descent, one function per level of precedence. The first error wins; parsing then runs out quickly
/// because every function returns at once when one is set.
class expression_parser {
  public:
    explicit expression_parser(std::string_view text) : text_(text) {}

    result<expression> run() {
        out_.text_ = text_;
        out_.program_.clear();
        if (text_.size() > expression::max_text) {
            fail("the expression is longer than " + std::to_string(expression::max_text) + " bytes");
        }
        sum();
        skip_blanks();
        if (at_ < text_.size()) fail_expecting("an operator or the end");
        if (error_) return *error_;
        return std::move(out_);
    }

  private:
    using op = expression::instruction::op;

    void skip_blanks() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    }
    bool take(char c) {
        skip_blanks();
        if (error_ || at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void fail(const std::string& what) {
        if (!error_) error_ = failure{error_kind::config, what, 0};
    }
    void fail_expecting(const std::string& what) {
        skip_blanks();
        std::string message =
            "expected " + what + " at column " + std::to_string(at_ + 1) + " of '" + printable(text_) + "'";
        // In a YAML list [ ], the comma of min(a, b) ends the item: the most likely reason for a missing ')'.
        if (at_ >= text_.size() && open_parentheses_ > 0 && in_function_) {
            message += "; an expression with a comma must be quoted";
        }
        fail(message);
    }

    /// Counts what waits on the value stack, so that evaluation needs no check.
    void emit(op what, int pops, int pushes) {
        depth_ += pushes - pops;
        if (depth_ > expression::max_stack) fail("the expression is nested too deeply");
        out_.program_.push_back({what, 0, 0});
    }
    void emit_number(double number) {
        emit(op::push, 0, 1);
        out_.program_.back().number = number;
    }
    void emit_name(std::string_view name) {
        auto& names = out_.names_;
        auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end()) {
            if (names.size() == expression::max_names) {
                return fail("the expression uses more than " + std::to_string(expression::max_names) + " names");
            }
            found = names.emplace(names.end(), name);
        }
        emit(op::name, 0, 1);
        out_.program_.back().name = static_cast<unsigned short>(found - names.begin());
    }

    void sum() {
        product();
        while (!error_) {
            if (take('+')) {
                product();
                emit(op::add, 2, 1);
            } else if (take('-')) {
                product();
                emit(op::subtract, 2, 1);
            } else {
                return;
            }
        }
    }

    void product() {
        unary();
        while (!error_) {
            const op what = take('*') ? op::multiply : take('/') ? op::divide : take('%') ? op::modulo : op::push;
            if (what == op::push) return;
            unary();
            emit(what, 2, 1);
        }
    }

    void unary() {
        int signs = 0;
        while (take('-')) ++signs;
        primary();
        // An even number is two, not none, so that ceil(--a/b) does not take the inner division for its own.
        for (int i = 0; i < (signs == 0 ? 0 : 2 - signs % 2) && !error_; ++i) emit(op::negate, 1, 1);
    }

    void primary() {
        skip_blanks();
        if (error_) return;
        if (++nesting_ > expression::max_stack) fail("the expression is nested too deeply");
        if (take('(')) {
            ++open_parentheses_;
            sum();
            close();
        } else if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) {
            number();
        } else if (at_ < text_.size() && is_letter(text_[at_])) {
            name();
        } else {
            fail_expecting("a number, a name or '('");
        }
        --nesting_;
    }

    void close() {
        if (!take(')')) return fail_expecting("')'");
        --open_parentheses_;
    }

    /// ceil(): the division it is put around must not round down before.
    void round_up() {
        auto& last = out_.program_.back();
        if (last.what == op::divide)
            last.what = op::divide_up;
        else
            emit(op::ceil, 1, 1);
    }

    void number() {
        double value = 0;
        const char* begin = text_.data() + at_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error != std::errc{} || !std::isfinite(value)) return fail_expecting("a number");
        at_ += static_cast<size_t>(end - begin);
        emit_number(value);
    }

    void name() {
        const size_t begin = at_;
        while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
        const std::string_view word = std::string_view(text_).substr(begin, at_ - begin);
        if (!take('(')) {
            if (!is_function(word)) return emit_name(word);
            return fail_expecting("'('");
        }
        if (!is_function(word)) {
            at_ = begin;
            return fail_expecting("one of the functions min, max and ceil");
        }
        ++open_parentheses_;
        in_function_ = true;
        sum();
        if (word == "ceil") {
            if (!error_) round_up();
        } else {
            if (!take(',')) return fail_expecting("','");
            sum();
            if (!error_) emit(word == "min" ? op::min : op::max, 2, 1);
        }
        close();
    }

    std::string text_;
    size_t at_ = 0;
    int depth_ = 0;
    int nesting_ = 0;
    int open_parentheses_ = 0;
    bool in_function_ = false;
    std::optional<failure> error_;
    expression out_;
};

result<expression> expression::parse(std::string_view text) {
    return expression_parser(text).run();
}

}  // namespace halcyon::offload
