#include "coordinate/protocol/json.hpp"

#include <charconv>
#include <cstdio>
#include <optional>
#include <span>

#include "base/rapidjson.hpp"
#include "coordinate/protocol/fields.hpp"
#include "coordinate/protocol/plain_text.hpp"

namespace halcyon::coordinate {

namespace {

std::string shown(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

/// Ranges of values, the same ones for messages that are written and read. Keeps the first thing that is wrong.
class range_check {
  public:
    explicit range_check(std::string_view type) : type_(type) {}

    void wrong(const char* name, std::string value, std::string expected) {
        if (wrong_) return;
        wrong_ = {rejection::kind::wrong_field, std::string(type_) + "." + name, std::move(value), std::move(expected)};
    }
    template <class Integer, class Least, class Most>
    bool whole(const char* name, Integer value, Least least, Most most) {
        if (std::cmp_less_equal(least, value) && std::cmp_less_equal(value, most)) return true;
        wrong(name, std::to_string(value), whole_expected(least, most));
        return false;
    }
    bool number(const char* name, double value, double least, double most) {
        if (value >= least && value <= most) return true;  // neither holds of what is no number
        wrong(name, shown(value), number_expected(least, most));
        return false;
    }
    bool text(const char* name, std::string_view value, size_t shortest, size_t longest) {
        if (value.size() >= shortest && value.size() <= longest && is_plain_text(value)) return true;
        wrong(name, std::to_string(value.size()) + " bytes, '" + excerpt(value) + "'",
              text_expected(shortest, longest));
        return false;
    }
    bool length(const char* name, size_t length, size_t longest) {
        if (length <= longest) return true;
        wrong(name, "a list of " + std::to_string(length), "a list of at most " + std::to_string(longest));
        return false;
    }

    template <class Least, class Most>
    static std::string whole_expected(Least least, Most most) {
        return "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    }
    static std::string number_expected(double least, double most) {
        return "a number from " + shown(least) + " to " + shown(most);
    }
    static std::string text_expected(size_t shortest, size_t longest) {
        return "UTF-8 text of " + std::to_string(shortest) + " to " + std::to_string(longest) +
               " bytes without control characters";
    }
    static std::string choice_expected(std::span<const std::string_view> names) {
        std::string all = "one of";
        for (size_t i = 0; i < names.size(); ++i) all.append(i == 0 ? " " : ", ").append(names[i]);
        return all;
    }

    [[nodiscard]] const std::optional<rejection>& first_wrong() const { return wrong_; }

  private:
    std::string_view type_;
    std::optional<rejection> wrong_;
};

constexpr double any_size = 1e300;

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
            if (check_.number(name, value, -any_size, any_size)) json_.Double(value);
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

/// Of one value, for people; of lists and objects only what they are, since they may be nested deeply.
std::string shown(const rapidjson::Value& value) {
    if (value.IsString()) return "'" + excerpt({value.GetString(), value.GetStringLength()}) + "'";
    if (value.IsUint64()) return std::to_string(value.GetUint64());
    if (value.IsInt64()) return std::to_string(value.GetInt64());
    if (value.IsNumber()) return shown(value.GetDouble());
    if (value.IsBool()) return value.GetBool() ? "true" : "false";
    return value.IsNull() ? "null" : value.IsArray() ? "a list" : "an object";
}

/// Visitor of fields that reads them. After the first thing that is wrong it goes on, and changes nothing of what it
/// says.
class field_reader {
  public:
    field_reader(std::string_view type, const rapidjson::Value& object) : check_(type), object_(object) {}

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
            if (seen.IsNumber() && check_.number(name, seen.GetDouble(), -any_size, any_size)) return seen.GetDouble();
            check_.wrong(name, shown(seen), range_check::number_expected(-any_size, any_size));
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
    template <class Expected>
    const rapidjson::Value* find(const char* name, need how, Expected expected) {
        const auto at = object_.FindMember(name);
        if (at != object_.MemberEnd()) return &at->value;
        if (how == need::required) check_.wrong(name, "missing", expected());
        return nullptr;
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
};

/// Tries the messages of a variant one after the other.
template <class Variant, size_t Index = 0>
decoded<Variant> decode_one(std::string_view type, const rapidjson::Value& object) {
    if constexpr (Index == std::variant_size_v<Variant>) {
        return rejection{rejection::kind::unknown_type, "type", "'" + excerpt(type) + "'", "a known message"};
    } else {
        using message_type = std::variant_alternative_t<Index, Variant>;
        if (type != message_type::type) return decode_one<Variant, Index + 1>(type, object);
        message_type message;
        field_reader reader(type, object);
        each_field(reader, message);
        if (reader.first_wrong()) return *reader.first_wrong();
        return Variant(std::move(message));
    }
}

/// Builds a document, but reads numbers itself: RapidJSON's own reading is either off by some last bits or, of long
/// rows of zeros, undefined.
struct exact_numbers {
    rapidjson::Document& into;

    bool Null() { return into.Null(); }
    bool Bool(bool value) { return into.Bool(value); }
    bool Int(int value) { return into.Int(value); }
    bool Uint(unsigned value) { return into.Uint(value); }
    bool Int64(int64_t value) { return into.Int64(value); }
    bool Uint64(uint64_t value) { return into.Uint64(value); }
    bool Double(double value) { return into.Double(value); }
    bool String(const char* text, rapidjson::SizeType length, bool copy) { return into.String(text, length, copy); }
    bool StartObject() { return into.StartObject(); }
    bool Key(const char* text, rapidjson::SizeType length, bool copy) { return into.Key(text, length, copy); }
    bool EndObject(rapidjson::SizeType members) { return into.EndObject(members); }
    bool StartArray() { return into.StartArray(); }
    bool EndArray(rapidjson::SizeType elements) { return into.EndArray(elements); }

    bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
        const std::string_view digits(text, length);
        const auto read = [&](auto& value) {
            const auto done = std::from_chars(text, text + length, value);
            return done.ec == std::errc() && done.ptr == text + length;
        };
        uint64_t whole = 0;
        int64_t negative = 0;
        double real = 0;
        if (digits.find_first_of(".eE") == std::string_view::npos) {
            if (read(whole)) return into.Uint64(whole);
            if (read(negative)) return into.Int64(negative);
        }
        return read(real) && into.Double(real);
    }
};

/// The parser neither recurses nor stops at a zero byte, which could hide something behind it.
bool parse(std::string_view line, rapidjson::Document& into) {
    constexpr unsigned flags =
        rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;
    bool parsed = false;
    auto fill = [&](rapidjson::Document& document) {
        rapidjson::MemoryStream bytes(line.data(), line.size());
        rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> stream(bytes);
        exact_numbers handler{document};
        rapidjson::Reader reader;
        parsed = !reader.Parse<flags>(stream, handler).IsError();
        return parsed;
    };
    into.Populate(fill);
    return parsed && into.IsObject();
}

template <class Variant>
decoded<Variant> decode(std::string_view line) {
    const auto not_json = [&](std::string value, std::string expected) {
        return rejection{rejection::kind::not_json, "line", std::move(value), std::move(expected)};
    };
    if (line.size() > longest_line)
        return not_json(std::to_string(line.size()) + " bytes", "at most " + std::to_string(longest_line));
    if (line.find('\0') != std::string_view::npos) return not_json(excerpt(line), "JSON without zero bytes");
    rapidjson::Document document;
    if (!parse(line, document)) return not_json(excerpt(line), "a JSON object");
    const auto type = document.FindMember("type");
    if (type == document.MemberEnd() || !type->value.IsString())
        return rejection{rejection::kind::unknown_type, "type",
                         type == document.MemberEnd() ? "missing" : shown(type->value), "a known message"};
    return decode_one<Variant>({type->value.GetString(), type->value.GetStringLength()}, document);
}

template <class Variant>
decoded<std::string> encode_one(const Variant& any) {
    return std::visit(
        [](const auto& message) {
            field_writer writer(message.type);
            each_field(writer, message);
            return writer.line();
        },
        any);
}

}  // namespace

std::string rejection::text() const {
    return field + ": " + value + "; expected " + expected;
}

decoded<std::string> encode(const to_coordinator& message) {
    return encode_one(message);
}
decoded<std::string> encode(const from_coordinator& message) {
    return encode_one(message);
}
decoded<to_coordinator> decode_to_coordinator(std::string_view line) {
    return decode<to_coordinator>(line);
}
decoded<from_coordinator> decode_from_coordinator(std::string_view line) {
    return decode<from_coordinator>(line);
}

}  // namespace halcyon::coordinate
