#include "coordinate/protocol/json.hpp"

#include <utility>

#include "coordinate/protocol/default_values.hpp"
#include "coordinate/protocol/field_reader.hpp"
#include "coordinate/protocol/field_writer.hpp"
#include "coordinate/protocol/parsed_line.hpp"
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

template <class Variant>
decoded<Variant> decode(std::string_view line) {
    const auto not_json = [&](std::string value, std::string expected) {
        return rejection{rejection::kind::not_json, "line", std::move(value), std::move(expected)};
    };
    if (line.size() > longest_line)
        return not_json(std::to_string(line.size()) + " bytes", "at most " + std::to_string(longest_line));
    // The parser stops at one, which could hide something behind it.
    if (line.find('\0') != std::string_view::npos) return not_json(excerpt(line), "JSON without zero bytes");
    const parsed_line parsed(line);
    if (!parsed.is_object()) return not_json(excerpt(line), "a JSON object");
    const rapidjson::Value* const type = find_member(parsed.value(), "type");
    if (type == nullptr || !type->IsString())
        return rejection{rejection::kind::unknown_type, "type", type == nullptr ? "missing" : shown(*type),
                         "a known message"};
    return decode_one<Variant>({type->GetString(), type->GetStringLength()}, parsed.value());
}

template <class Variant>
decoded<std::string> encode_one(const Variant& any) {
    return std::visit(
        []<class Message>(const Message& message) {
            field_writer writer(message.type, default_numbers<Message>());
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
