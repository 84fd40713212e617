#include "coordinate/protocol/parsed_line.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

namespace halcyon::coordinate {
namespace {

bool is_ascii(std::string_view text) {
    return std::ranges::none_of(text, [](unsigned char c) { return c >= 0x80; });
}

}  // namespace

/// Builds a document, but reads numbers itself: RapidJSON's own reading is either off by some last bits or, of long
/// rows of zeros, undefined.
struct parsed_line::builder {
    document& into;

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
        const auto read = [&](auto& value) {
            const auto done = std::from_chars(text, text + length, value);
            return done.ec == std::errc() && done.ptr == text + length;
        };
        uint64_t whole = 0;
        int64_t negative = 0;
        double real = 0;
        if (read(whole)) return into.Uint64(whole);
        if (read(negative)) return into.Int64(negative);
        return read(real) && into.Double(real);
    }
};

parsed_line::parsed_line(std::string_view line) {
    char* text = usual_text_.data();
    if (line.size() > usual_bytes) {
        long_text_ = line;
        text = long_text_.data();
    } else {
        *std::ranges::copy(line, text).out = '\0';
    }
    is_json_ = is_ascii(line) ? parse<0>(text) : parse<rapidjson::kParseValidateEncodingFlag>(text);
}

/// In place: texts of the document lie in `text`. The parser does not recurse.
template <unsigned more_flags>
bool parsed_line::parse(char* text) {
    constexpr unsigned flags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag |
                               rapidjson::kParseNumbersAsStringsFlag | more_flags;
    bool parsed = false;
    auto fill = [&](document& into) {
        rapidjson::InsituStringStream stream(text);
        builder handler{into};
        rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, pool> reader(&pool_);
        parsed = !reader.Parse<flags>(stream, handler).IsError();
        return parsed;
    };
    document_.Populate(fill);
    return parsed;
}

}  // namespace halcyon::coordinate
