#include "base/yaml/scalar.hpp"

#include <charconv>
#include <cmath>
#include <optional>

#include "base/closest_name.hpp"

namespace halcyon::yaml {
namespace {

constexpr std::string_view core = "tag:yaml.org,2002:";

bool all_of(std::string_view text, std::string_view allowed) {
    return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

std::string_view without_sign(std::string_view text) {
    return text.starts_with('-') || text.starts_with('+') ? text.substr(1) : text;
}

bool is_null(std::string_view t) {
    return t.empty() || t == "~" || t == "null" || t == "Null" || t == "NULL";
}
bool is_true(std::string_view t) {
    return t == "true" || t == "True" || t == "TRUE";
}
bool is_false(std::string_view t) {
    return t == "false" || t == "False" || t == "FALSE";
}

bool is_not_finite(std::string_view t) {
    const std::string_view magnitude = without_sign(t);
    return magnitude == ".inf" || magnitude == ".Inf" || magnitude == ".INF" || t == ".nan" || t == ".NaN" ||
           t == ".NAN";
}

/// [-+]?[0-9]+, 0o[0-7]+ or 0x[0-9a-fA-F]+
bool is_integer(std::string_view t) {
    if (t.starts_with("0o")) return all_of(t.substr(2), "01234567");
    if (t.starts_with("0x")) return all_of(t.substr(2), "0123456789abcdefABCDEF");
    return all_of(without_sign(t), "0123456789");
}

/// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool is_real(std::string_view t) {
    t = without_sign(t);
    const size_t exponent = t.find_first_of("eE");
    if (exponent != std::string_view::npos) {
        if (!all_of(without_sign(t.substr(exponent + 1)), "0123456789")) return false;
        t = t.substr(0, exponent);
    }
    const size_t point = t.find('.');
    const std::string_view whole = t.substr(0, point);
    const std::string_view fraction = point == std::string_view::npos ? "" : t.substr(point + 1);
    if (whole.empty() && fraction.empty()) return false;
    return (whole.empty() || all_of(whole, "0123456789")) && (fraction.empty() || all_of(fraction, "0123456789"));
}

std::optional<int64_t> read_integer(std::string_view t) {
    const bool octal = t.starts_with("0o");
    const bool hexadecimal = t.starts_with("0x");
    const std::string_view digits = octal || hexadecimal ? t.substr(2) : t.starts_with('+') ? t.substr(1) : t;
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                              octal         ? 8
                                              : hexadecimal ? 16
                                                            : 10);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return value;
}

/// nullopt: too large or too small for a double.
std::optional<double> read_real(std::string_view t) {
    if (t.starts_with('+')) t.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), value);
    if (error != std::errc{} || end != t.data() + t.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

failure refuse(std::string_view text, std::string_view why) {
    return {error_kind::config, "'" + printable(text) + "' " + std::string(why), 0};
}

result<node> number(std::string text, bool whole) {
    node out;
    out.kind = whole ? node_kind::integer : node_kind::real;
    if (whole) {
        const auto value = read_integer(text);
        if (!value) return refuse(text, "does not fit 64 bits");
        out.integer = *value;
        out.real = static_cast<double>(*value);
    } else {
        const auto value = read_real(text);
        if (!value) return refuse(text, "is beyond the range of a double");
        out.real = *value;
    }
    out.text = std::move(text);
    return out;
}

result<node> resolve_plain(std::string text) {
    if (is_not_finite(text)) return refuse(text, "is not a finite number");
    if (is_integer(text)) return number(std::move(text), true);
    if (is_real(text)) return number(std::move(text), false);
    node out;
    if (is_null(text)) {
        out.kind = node_kind::null;
    } else if (is_true(text) || is_false(text)) {
        out.kind = node_kind::boolean;
        out.boolean = is_true(text);
    } else {
        out.kind = node_kind::string;
    }
    out.text = std::move(text);
    return out;
}

}  // namespace

result<node> resolve_scalar(std::string_view tag, std::string text) {
    if (tag == "?" || tag.empty()) return resolve_plain(std::move(text));
    if (tag == "!" || tag == std::string(core) + "str") {
        node out;
        out.kind = node_kind::string;
        out.text = std::move(text);
        return out;
    }
    if (!tag.starts_with(core)) return refuse(tag, "is a tag this file format does not have");
    const std::string_view type = tag.substr(core.size());
    if (type == "float" && (is_integer(text) || is_real(text)) && !text.starts_with("0o") && !text.starts_with("0x")) {
        return number(std::move(text), false);
    }
    auto plain = resolve_plain(std::move(text));
    if (!plain) return plain;
    const node_kind kind = plain->kind;
    const bool fits = (type == "int" && kind == node_kind::integer) || (type == "bool" && kind == node_kind::boolean) ||
                      (type == "null" && kind == node_kind::null);
    if (!fits) return refuse(plain->text, "does not fit its tag !!" + printable(type));
    return plain;
}

}  // namespace halcyon::yaml
