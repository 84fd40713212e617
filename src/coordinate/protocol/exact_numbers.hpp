#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "base/rapidjson.hpp"

namespace halcyon::coordinate {

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

}  // namespace halcyon::coordinate
