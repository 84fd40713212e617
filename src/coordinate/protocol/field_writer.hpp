#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/rapidjson.hpp"
#include "coordinate/protocol/fields.hpp"
#include "coordinate/protocol/range_check.hpp"

namespace halcyon::coordinate {

/// Visitor of fields that writes them.
class field_writer {
  public:
    explicit field_writer(std::string_view type) : check_(type) {
        json_.StartObject();
        key("type");
        put(type);
    }

    template <class Integer, class Least, class Most>
    void whole(const char* name, Integer value, Least least, Most most, need) {
        check_.whole(name, value, least, most);
        key(name);
        put(value);
    }
    void number(const char* name, double value, double least, double most, need) {
        if (!check_.number(name, value, least, most)) return;
        key(name);
        json_.Double(value);
    }
    void text(const char* name, std::string_view value, size_t shortest, size_t longest, need) {
        check_.text(name, value, shortest, longest);
        key(name);
        put(value);
    }
    template <class Enumerator>
    void choice(const char* name, Enumerator value, std::span<const std::string_view> names, need) {
        const auto index = static_cast<size_t>(value);
        if (index >= names.size())
            return check_.wrong(name, std::to_string(index), range_check::choice_expected(names));
        key(name);
        put(names[index]);
    }
    void wholes(const char* name, const std::vector<uint32_t>& values, size_t longest) {
        list(name, values, longest, [&](uint32_t value) { json_.Uint(value); });
    }
    void numbers(const char* name, const std::vector<double>& values, size_t longest) {
        list(name, values, longest, [&](double value) {
            if (check_.number(name, value, -largest_number, largest_number)) json_.Double(value);
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
        json_.EndObject();
        if (out_.GetSize() > longest_line)
            return rejection{rejection::kind::not_json, "line", std::to_string(out_.GetSize()) + " bytes",
                             "at most " + std::to_string(longest_line)};
        return std::string(out_.GetString(), out_.GetSize());
    }

  private:
    void key(std::string_view name) { json_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size())); }
    void put(std::string_view value) { json_.String(value.data(), static_cast<rapidjson::SizeType>(value.size())); }
    void put(int64_t value) { json_.Int64(value); }
    void put(uint64_t value) { json_.Uint64(value); }

    /// Lists that are empty are left out.
    template <class Value, class Put>
    void list(const char* name, const std::vector<Value>& values, size_t longest, Put put_value) {
        if (values.empty() || !check_.length(name, values.size(), longest)) return;
        key(name);
        json_.StartArray();
        for (const Value& value : values) put_value(value);
        json_.EndArray();
    }

    range_check check_;
    rapidjson::StringBuffer out_;
    rapidjson::Writer<rapidjson::StringBuffer> json_{out_};
};

}  // namespace halcyon::coordinate
