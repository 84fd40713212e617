#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/rapidjson.hpp"
#include "coordinate/protocol/fields.hpp"
#include "coordinate/protocol/plain_text.hpp"
#include "coordinate/protocol/range_check.hpp"

namespace halcyon::coordinate {

/// Of one value, for people; of lists and objects only what they are, since they may be nested deeply.
inline std::string shown(const rapidjson::Value& value) {
    if (value.IsString()) return "'" + excerpt({value.GetString(), value.GetStringLength()}) + "'";
    if (value.IsUint64()) return std::to_string(value.GetUint64());
    if (value.IsInt64()) return std::to_string(value.GetInt64());
    if (value.IsNumber()) return shown(value.GetDouble());
    if (value.IsBool()) return value.GetBool() ? "true" : "false";
    return value.IsNull() ? "null" : value.IsArray() ? "a list" : "an object";
}

inline bool is_named(const rapidjson::Value::Member& one, std::string_view name) {
    return std::string_view(one.name.GetString(), one.name.GetStringLength()) == name;
}

/// Of those of one name, the first.
inline const rapidjson::Value* find_member(const rapidjson::Value& object, std::string_view name) {
    for (const auto& one : object.GetObject())
        if (is_named(one, name)) return &one.value;
    return nullptr;
}

/// Visitor of fields that reads them. After the first thing that is wrong it goes on, and changes nothing of what it
/// says.
class field_reader {
  public:
    field_reader(std::string_view type, const rapidjson::Value& object) : check_(type), object_(object) {
        if (next_ != object_.MemberEnd() && is_named(*next_, "type")) ++next_;
    }

    template <class Integer, class Least, class Most>
    void whole(const char* name, Integer& value, Least least, Most most, need how) {
        const auto expected = [&] { return range_check::whole_expected(least, most); };
        const rapidjson::Value* const seen = find(name, how, expected);
        if (seen == nullptr) return;
        if (seen->IsUint64()) {
            if (check_.whole(name, seen->GetUint64(), least, most)) value = static_cast<Integer>(seen->GetUint64());
        } else if (seen->IsInt64()) {
            if (check_.whole(name, seen->GetInt64(), least, most)) value = static_cast<Integer>(seen->GetInt64());
        } else {
            check_.wrong(name, shown(*seen), expected());
        }
    }
    void number(const char* name, double& value, double least, double most, need how) {
        const auto expected = [&] { return range_check::number_expected(least, most); };
        const rapidjson::Value* const seen = find(name, how, expected);
        if (seen == nullptr) return;
        if (!seen->IsNumber()) return check_.wrong(name, shown(*seen), expected());
        if (check_.number(name, seen->GetDouble(), least, most)) value = seen->GetDouble();
    }
    void text(const char* name, std::string& value, size_t shortest, size_t longest, need how) {
        const auto expected = [&] { return range_check::text_expected(shortest, longest); };
        const rapidjson::Value* const seen = find(name, how, expected);
        if (seen == nullptr) return;
        if (!seen->IsString()) return check_.wrong(name, shown(*seen), expected());
        const std::string_view given(seen->GetString(), seen->GetStringLength());
        if (check_.text(name, given, shortest, longest)) value = given;
    }
    template <class Enumerator>
    void choice(const char* name, Enumerator& value, std::span<const std::string_view> names, need how) {
        const auto expected = [&] { return range_check::choice_expected(names); };
        const rapidjson::Value* const seen = find(name, how, expected);
        if (seen == nullptr) return;
        for (size_t i = 0; seen->IsString() && i < names.size(); ++i)
            if (names[i] == std::string_view(seen->GetString(), seen->GetStringLength())) {
                value = static_cast<Enumerator>(i);
                return;
            }
        check_.wrong(name, shown(*seen), expected());
    }
    void wholes(const char* name, std::vector<uint32_t>& values, size_t longest) {
        constexpr uint32_t most = ~uint32_t{0};
        list(name, values, longest, [&](const rapidjson::Value& seen) -> uint32_t {
            if (seen.IsUint()) return seen.GetUint();
            check_.wrong(name, shown(seen), range_check::whole_expected(0, most));
            return 0;
        });
    }
    void numbers(const char* name, std::vector<double>& values, size_t longest) {
        list(name, values, longest, [&](const rapidjson::Value& seen) {
            if (seen.IsNumber() && check_.number(name, seen.GetDouble(), -largest_number, largest_number))
                return seen.GetDouble();
            check_.wrong(name, shown(seen), range_check::number_expected(-largest_number, largest_number));
            return 0.0;
        });
    }
    void texts(const char* name, std::vector<std::string>& values, size_t longest) {
        list(name, values, longest, [&](const rapidjson::Value& seen) -> std::string {
            const std::string_view given =
                seen.IsString() ? std::string_view(seen.GetString(), seen.GetStringLength()) : std::string_view();
            if (seen.IsString() && check_.text(name, given, 0, longest_name)) return std::string(given);
            check_.wrong(name, shown(seen), range_check::text_expected(0, longest_name));
            return {};
        });
    }

    [[nodiscard]] const std::optional<rejection>& first_wrong() const { return check_.first_wrong(); }

  private:
    /// Most messages are of our own field_writer, in which fields come in this very order. Nothing before `next_` has
    /// the name of a field that is still to be read.
    const rapidjson::Value* find_next(std::string_view name) {
        if (next_ != object_.MemberEnd() && is_named(*next_, name)) return &(next_++)->value;
        return find_member(object_, name);
    }
    template <class Expected>
    const rapidjson::Value* find(const char* name, need how, Expected expected) {
        const rapidjson::Value* const found = find_next(name);
        if (found == nullptr && how == need::required) check_.wrong(name, "missing", expected());
        return found;
    }
    template <class Value, class Read>
    void list(const char* name, std::vector<Value>& values, size_t longest, Read read) {
        const rapidjson::Value* const seen = find(name, need::optional, [] { return std::string(); });
        if (seen == nullptr) return;
        if (!seen->IsArray()) return check_.wrong(name, shown(*seen), "a list");
        if (!check_.length(name, seen->Size(), longest)) return;
        values.reserve(seen->Size());
        for (const rapidjson::Value& value : seen->GetArray()) values.push_back(read(value));
    }

    range_check check_;
    const rapidjson::Value& object_;
    rapidjson::Value::ConstMemberIterator next_ = object_.MemberBegin();
};

}  // namespace halcyon::coordinate
