#include "base/yaml/schema_error.hpp"

#include <optional>
#include <vector>

#include "base/closest_name.hpp"

namespace halcyon::yaml {
namespace {

/// The value as the user wrote it, short: `'abc'`, `3`, `a list of 4`.
std::string describe(const node& value) {
    switch (value.kind) {
        case node_kind::null:
            return "nothing";
        case node_kind::sequence:
            return "a list of " + std::to_string(value.items.size());
        case node_kind::map:
            return "a map of " + std::to_string(value.entries.size());
        case node_kind::string:
            return "'" + printable(value.text) + "'";
        default:
            return printable(value.text);
    }
}

std::string with_kind(const node& value) {
    switch (value.kind) {
        case node_kind::integer:
            return describe(value) + " (a whole number)";
        case node_kind::real:
            return describe(value) + " (a number)";
        case node_kind::string:
            return describe(value) + " (a string)";
        default:
            return describe(value);
    }
}

const rapidjson::Value* member(const rapidjson::Value& object, const char* name) {
    const auto found = object.FindMember(name);
    return found == object.MemberEnd() ? nullptr : &found->value;
}

std::string text_of(const rapidjson::Value& value) {
    if (value.IsString()) return {value.GetString(), value.GetStringLength()};
    if (value.IsBool()) return value.GetBool() ? "true" : "false";
    if (value.IsInt64()) return std::to_string(value.GetInt64());
    if (value.IsNumber()) {
        std::string out = std::to_string(value.GetDouble());
        while (out.ends_with('0')) out.pop_back();
        if (out.ends_with('.')) out.pop_back();
        return out;
    }
    return "null";
}

std::string type_in_words(std::string_view type) {
    if (type == "object") return "a map";
    if (type == "array") return "a list";
    if (type == "string") return "a string";
    if (type == "integer") return "a whole number";
    if (type == "number") return "a number";
    if (type == "boolean") return "true or false";
    return "nothing";
}

/// What the rule wants, in words: its x-expected, else its enum or its type; "" when it says none of them.
std::string expected(const rapidjson::Value& rule) {
    if (const auto* words = member(rule, "x-expected")) return text_of(*words);
    if (const auto* values = member(rule, "enum")) {
        std::string out;
        for (rapidjson::SizeType i = 0; i < values->Size(); ++i) {
            out += (i == 0 ? "" : i + 1 == values->Size() ? " or " : ", ") + text_of((*values)[i]);
        }
        return out;
    }
    const auto* type = member(rule, "type");
    if (type == nullptr) return "";
    if (type->IsString()) return type_in_words(text_of(*type));
    std::string out;
    for (rapidjson::SizeType i = 0; i < type->Size(); ++i) {
        out += (i == 0 ? "" : i + 1 == type->Size() ? " or " : ", ") + type_in_words(text_of((*type)[i]));
    }
    return out;
}

std::string expected_clause(const rapidjson::Value& rule) {
    const std::string words = expected(rule);
    return words.empty() ? "" : "; expected " + words;
}

std::string explain_unknown_key(const broken_rule& broken) {
    std::vector<std::string> known;
    if (const auto* properties = member(*broken.rule, "properties")) {
        for (const auto& property : properties->GetObject()) known.push_back(text_of(property.name));
    }
    std::string out = "unknown key";
    if (const auto closest = closest_name(broken.key, known)) out += "; did you mean '" + *closest + "'?";
    return out + "; known keys: " + list_names(known);
}

std::string explain_enum(const broken_rule& broken) {
    std::vector<std::string> known;
    for (const auto& value : (*member(*broken.rule, "enum")).GetArray()) known.push_back(text_of(value));
    std::optional<std::string> meant = closest_name(broken.value->text, known);
    if (const auto* synonyms = member(*broken.rule, "x-synonyms")) {
        if (const auto* synonym = member(*synonyms, broken.value->text.c_str())) meant = text_of(*synonym);
    }
    std::string out = with_kind(*broken.value) + " is not known";
    if (broken.value->kind == node_kind::string) out = describe(*broken.value) + " is not known";
    if (meant && broken.value->kind == node_kind::string) out += "; did you mean '" + *meant + "'?";
    return out + expected_clause(*broken.rule);
}

std::string explain_missing(const broken_rule& broken) {
    std::string out;
    for (const auto& wanted : (*member(*broken.rule, "required")).GetArray()) {
        if (broken.value->find(text_of(wanted)) != nullptr) continue;
        out += (out.empty() ? "'" : "', '") + text_of(wanted);
    }
    return out + (out.find(',') == std::string::npos ? "' is missing" : "' are missing");
}

std::string limit_of(const broken_rule& broken) {
    const auto* limit = member(*broken.rule, broken.keyword.c_str());
    return limit != nullptr ? text_of(*limit) : "";
}

}  // namespace

std::string explain(const broken_rule& broken) {
    const std::string& keyword = broken.keyword;
    if (keyword == "additionalProperties") return explain_unknown_key(broken);
    if (keyword == "enum") return explain_enum(broken);
    if (keyword == "required") return explain_missing(broken);
    const std::string seen = describe(*broken.value);
    const auto exclusive = [&](const char* name) {
        const auto* flag = member(*broken.rule, name);
        return flag != nullptr && flag->IsBool() && flag->GetBool();
    };
    if (keyword == "minimum") {
        return seen + " is too small; expected " + (exclusive("exclusiveMinimum") ? "more than " : "at least ") +
               limit_of(broken);
    }
    if (keyword == "maximum") {
        return seen + " is too large; expected " + (exclusive("exclusiveMaximum") ? "less than " : "at most ") +
               limit_of(broken);
    }
    if (keyword == "minItems" || keyword == "minProperties" || keyword == "minLength") {
        return seen + " is too short; expected at least " + limit_of(broken);
    }
    if (keyword == "maxItems" || keyword == "maxProperties" || keyword == "maxLength") {
        return seen + " is too long; expected at most " + limit_of(broken);
    }
    if (keyword == "uniqueItems") return "an item is given twice";
    const std::string wanted = expected_clause(*broken.rule);
    return with_kind(*broken.value) + (wanted.empty() ? " breaks the rule '" + keyword + "'" : " does not fit") +
           wanted;
}

}  // namespace halcyon::yaml
