#include "base/yaml/schema.hpp"

#include <charconv>
#include <optional>

#include "base/closest_name.hpp"
#include "base/rapidjson.hpp"
#include "base/yaml/schema_error.hpp"

namespace halcyon::yaml {
namespace {

using json = rapidjson::Value;

rapidjson::SizeType size(const std::string& text) {
    return static_cast<rapidjson::SizeType>(text.size());
}

/// The document as JSON. Strings are referenced, not copied: `from` must outlive the result.
json to_json(const node& from, rapidjson::Document::AllocatorType& memory) {
    switch (from.kind) {
        case node_kind::null:
            return json();
        case node_kind::boolean:
            return json(from.boolean);
        case node_kind::integer:
            return json(from.integer);
        case node_kind::real:
            return json(from.real);
        case node_kind::string:
            return json(rapidjson::StringRef(from.text.data(), size(from.text)));
        case node_kind::sequence: {
            json list(rapidjson::kArrayType);
            for (const node& item : from.items) list.PushBack(to_json(item, memory), memory);
            return list;
        }
        case node_kind::map: {
            json map(rapidjson::kObjectType);
            for (const map_entry& entry : from.entries) {
                map.AddMember(json(rapidjson::StringRef(entry.key.data(), size(entry.key))),
                              to_json(entry.value, memory), memory);
            }
            return map;
        }
    }
    return json();
}

/// Where a value is, and what reported it broken.
struct place {
    const node* value = nullptr;
    std::string path;
    int line = 0;
    const node* parent = nullptr;  ///< the map or list around the value
    std::string key;               ///< the value's key in a map
};

/// Follows a JSON pointer from `root`.
place follow(const rapidjson::Pointer& pointer, const node& root, const std::string& root_path, int root_line) {
    place at{&root, root_path, root_line, nullptr, ""};
    for (size_t i = 0; i < pointer.GetTokenCount(); ++i) {
        const auto& token = pointer.GetTokens()[i];
        const std::string name(token.name, token.length);
        at.parent = at.value;
        if (at.value->kind == node_kind::map) {
            const map_entry* entry = at.value->find_entry(name);
            if (entry == nullptr) break;
            at = {&entry->value, path_of(at.path, name), entry->value.line, at.value, name};
        } else {
            size_t index = 0;
            std::from_chars(name.data(), name.data() + name.size(), index);
            if (index >= at.value->items.size()) break;
            const node& item = at.value->items[index];
            at = {&item, path_of(at.path, index), item.line, at.value, ""};
        }
    }
    return at;
}

/// Whether a rule with this `type` can be meant for `value`.
bool type_accepts(const json& rule, const node& value) {
    const auto type = rule.FindMember("type");
    if (type == rule.MemberEnd()) return true;
    const auto accepts = [&](const json& name) {
        const std::string_view word(name.GetString(), name.GetStringLength());
        switch (value.kind) {
            case node_kind::null:
                return word == "null";
            case node_kind::boolean:
                return word == "boolean";
            case node_kind::integer:
                return word == "integer" || word == "number";
            case node_kind::real:
                return word == "number";
            case node_kind::string:
                return word == "string";
            case node_kind::sequence:
                return word == "array";
            case node_kind::map:
                return word == "object";
        }
        return false;
    };
    if (type->value.IsString()) return accepts(type->value);
    for (const json& one : type->value.GetArray())
        if (accepts(one)) return true;
    return false;
}

}  // namespace

struct schema::compiled {
    rapidjson::Document document;

    /// Checks `value` against `rule`, a part of `document`, whose references are looked up in the whole document.
    [[nodiscard]] std::optional<failure> check(const json& rule, const node& value, const std::string& path,
                                               std::string_view file) const;

  private:
    /// The choice of `choices` (an anyOf or oneOf) that is alone in accepting the type of `value`, references resolved.
    [[nodiscard]] const json* only_choice(const json& choices, const node& value) const;
    [[nodiscard]] const json& resolve(const json& rule) const;
};

const json& schema::compiled::resolve(const json& rule) const {
    const json* at = &rule;
    for (int hops = 0; hops < 16; ++hops) {
        const auto reference = at->FindMember("$ref");
        if (reference == at->MemberEnd()) break;
        const json* target = rapidjson::Pointer(reference->value.GetString()).Get(document);
        if (target == nullptr) break;
        at = target;
    }
    return *at;
}

const json* schema::compiled::only_choice(const json& choices, const node& value) const {
    const json* found = nullptr;
    for (const json& choice : choices.GetArray()) {
        const json& rule = resolve(choice);
        if (!type_accepts(rule, value)) continue;
        if (found != nullptr) return nullptr;
        found = &rule;
    }
    return found;
}

std::optional<failure> schema::compiled::check(const json& rule, const node& value, const std::string& path,
                                               std::string_view file) const {
    // The part becomes the root of a schema of its own, beside the definitions that it may refer to.
    rapidjson::Document::AllocatorType memory_of_part;
    rapidjson::Document part(rapidjson::kObjectType, &memory_of_part);
    part.CopyFrom(rule, part.GetAllocator());
    const auto definitions = document.FindMember("definitions");
    if (definitions != document.MemberEnd() && !part.HasMember("definitions")) {
        part.AddMember("definitions", json(definitions->value, part.GetAllocator()), part.GetAllocator());
    }
    const rapidjson::SchemaDocument compiled_part(part);
    rapidjson::SchemaValidator validator(compiled_part);
    rapidjson::Document memory;
    if (to_json(value, memory.GetAllocator()).Accept(validator)) return std::nullopt;

    const place at = follow(validator.GetInvalidDocumentPointer(), value, path, value.line);
    const json* broken = validator.GetInvalidSchemaPointer().Get(part);
    const char* keyword = validator.GetInvalidSchemaKeyword();
    if (broken == nullptr || keyword == nullptr) {
        return failure_at(file, at.line, at.path, "does not fit the format of this file");
    }
    const std::string name = keyword;
    if (name == "anyOf" || name == "oneOf") {
        if (const json* choice = only_choice((*broken)[keyword], *at.value)) {
            if (auto inner = check(*choice, *at.value, at.path, file)) return inner;
        }
    }
    broken_rule found{broken, name, at.value, ""};
    int line = at.line;
    if (name == "additionalProperties" && at.parent != nullptr) {
        found.value = at.parent;
        found.key = at.key;
        line = at.parent->find_entry(at.key)->key_line;
    }
    return failure_at(file, line, at.path, explain(found));
}

failure failure_at(std::string_view file_name, int line, std::string_view path, std::string_view message) {
    std::string text = std::string(file_name) + ":" + std::to_string(line) + ": ";
    if (!path.empty()) text += std::string(path) + ": ";
    return {error_kind::config, text + std::string(message), 0};
}

std::string path_of(std::string_view map_path, std::string_view key) {
    return map_path.empty() ? printable(key) : std::string(map_path) + "." + printable(key);
}

std::string path_of(std::string_view list_path, size_t index) {
    return std::string(list_path) + "[" + std::to_string(index) + "]";
}

result<schema> schema::from_json(std::string_view json_text) {
    auto inside = std::make_shared<compiled>();
    inside->document.Parse(json_text.data(), json_text.size());
    if (inside->document.HasParseError() || !inside->document.IsObject()) {
        return failure{error_kind::internal,
                       "the schema is not JSON (byte " + std::to_string(inside->document.GetErrorOffset()) + ")", 0};
    }
    return schema(std::move(inside));
}

result<void> schema::check(const node& document, std::string_view file_name) const {
    if (auto broken = inside_->check(inside_->document, document, "", file_name)) return std::move(*broken);
    return {};
}

}  // namespace halcyon::yaml
