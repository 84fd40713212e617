#include "coordinate/protocol/json.hpp"

#include <utility>

#include "base/rapidjson.hpp"
#include "coordinate/protocol/exact_numbers.hpp"
#include "coordinate/protocol/field_reader.hpp"
#include "coordinate/protocol/field_writer.hpp"
#include "coordinate/protocol/plain_text.hpp"

namespace halcyon::coordinate {

namespace {

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
