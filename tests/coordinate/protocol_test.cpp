#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rapidjson.hpp"
#include "coordinate/protocol/json.hpp"
#include "coordinate/protocol/plain_text.hpp"
#include "coordinate/random_messages.hpp"

namespace halcyon::coordinate {
namespace {

template <class Variant>
decoded<Variant> decode(std::string_view line) {
    if constexpr (std::is_same_v<Variant, to_coordinator>)
        return decode_to_coordinator(line);
    else
        return decode_from_coordinator(line);
}

template <class Variant>
class protocol : public testing::Test {};
using directions = testing::Types<to_coordinator, from_coordinator>;
TYPED_TEST_SUITE(protocol, directions);

template <class Variant>
std::string line_of(const Variant& message) {
    const decoded<std::string> line = encode(message);
    EXPECT_TRUE(std::holds_alternative<std::string>(line)) << std::get<rejection>(line).text();
    return std::holds_alternative<std::string>(line) ? std::get<std::string>(line) : std::string();
}

std::string why(const decoded<to_coordinator>& answer) {
    return std::holds_alternative<rejection>(answer) ? std::get<rejection>(answer).text() : "understood";
}

TYPED_TEST(protocol, every_message_comes_back_as_it_was_sent) {
    std::mt19937_64 random(1);
    for (size_t index = 0; index < std::variant_size_v<TypeParam>; ++index)
        for (int repeat = 0; repeat < 1000; ++repeat) {
            const auto sent = random_message<TypeParam>(index, random);
            const std::string line = line_of(sent);
            ASSERT_EQ(line.find('\n'), std::string::npos);
            const decoded<TypeParam> came = decode<TypeParam>(line);
            ASSERT_TRUE(std::holds_alternative<TypeParam>(came)) << std::get<rejection>(came).text() << "\n" << line;
            ASSERT_TRUE(std::get<TypeParam>(came) == sent) << line;
        }
}

/// Visitor that makes one field wrong, as far as a field of its kind can be.
struct break_field {
    int which = 0;
    int at = -1;
    std::string broken;

    bool here(const char* name) { return ++at == which ? broken = name, true : false; }
    template <class Integer, class Least, class Most>
    void whole(const char* name, Integer& value, Least least, Most most, need) {
        const bool above = std::cmp_less(most, std::numeric_limits<Integer>::max());
        if ((above || least > 0) && here(name)) value = static_cast<Integer>(above ? most + 1 : least - 1);
    }
    void number(const char* name, double& value, double, double most, need) {
        if (here(name)) value = most < 1e300 ? std::nextafter(most, 1e301) : std::nan("");
    }
    void text(const char* name, std::string& value, size_t, size_t longest, need) {
        if (here(name)) value.assign(longest + 1, 'x');
    }
    template <class Enumerator>
    void choice(const char* name, Enumerator& value, std::span<const std::string_view> names, need) {
        if (here(name)) value = static_cast<Enumerator>(names.size());
    }
    template <class Value>
    void list(const char* name, std::vector<Value>& values, size_t longest) {
        if (here(name)) values.assign(longest + 1, Value());
    }
    void wholes(const char* name, std::vector<uint32_t>& values, size_t longest) { list(name, values, longest); }
    void numbers(const char* name, std::vector<double>& values, size_t longest) { list(name, values, longest); }
    void texts(const char* name, std::vector<std::string>& values, size_t longest) { list(name, values, longest); }
};

TYPED_TEST(protocol, a_field_beyond_its_range_is_never_written) {
    std::mt19937_64 random(2);
    for (size_t index = 0; index < std::variant_size_v<TypeParam>; ++index)
        for (int which = 0;; ++which) {
            auto message = random_message<TypeParam>(index, random);
            break_field breaking{which, -1, {}};
            std::visit([&](auto& m) { each_field(breaking, m); }, message);
            if (breaking.broken.empty()) break;
            const decoded<std::string> line = encode(message);
            ASSERT_TRUE(std::holds_alternative<rejection>(line)) << breaking.broken;
            EXPECT_TRUE(std::get<rejection>(line).field.ends_with("." + breaking.broken)) << breaking.broken;
        }
}

TYPED_TEST(protocol, a_field_of_another_type_is_refused_by_its_name) {
    std::mt19937_64 random(3);
    for (size_t index = 0; index < std::variant_size_v<TypeParam>; ++index) {
        const std::string line = line_of(random_message<TypeParam>(index, random));
        rapidjson::Document whole;
        whole.Parse(line.c_str());
        for (const auto& member : whole.GetObject()) {
            const std::string name = member.name.GetString();
            for (const char* other : {"null", "true", "{}", "[{}]", "-1.5", "\"\\u0001\"", "1e300"}) {
                rapidjson::Document changed;
                changed.Parse(line.c_str());
                rapidjson::Document value;
                value.Parse(other);
                changed[name.c_str()].CopyFrom(value, changed.GetAllocator());
                rapidjson::StringBuffer text;
                rapidjson::Writer<rapidjson::StringBuffer> writer(text);
                changed.Accept(writer);
                const decoded<TypeParam> came = decode<TypeParam>({text.GetString(), text.GetSize()});
                if (std::holds_alternative<TypeParam>(came)) {
                    ASSERT_EQ(name, "observed_cost") << text.GetString();  // takes 1e300
                    continue;
                }
                ASSERT_TRUE(std::get<rejection>(came).field.ends_with(name)) << text.GetString() << "\n"
                                                                             << std::get<rejection>(came).text();
            }
        }
    }
}

TYPED_TEST(protocol, garbage_is_refused_or_understood_but_never_both) {
    std::mt19937_64 random(4);
    int understood = 0;
    for (int repeat = 0; repeat < 20000; ++repeat) {
        std::string line;
        if (repeat % 4 == 0) {
            line.resize(random() % 200);
            for (char& c : line) c = static_cast<char>(random());
        } else {
            line = line_of(random_message<TypeParam>(random() % std::variant_size_v<TypeParam>, random));
            if (line.size() > 4000) continue;
            for (uint64_t change = 1 + random() % 3; change > 0 && !line.empty(); --change) {
                const size_t at = random() % line.size();
                if (random() % 3 == 0)
                    line.erase(at, 1 + random() % 8);
                else if (random() % 2 == 0)
                    line.insert(at, line.substr(random() % line.size(), random() % 16));
                else
                    line[at] = static_cast<char>(random());
            }
        }
        const decoded<TypeParam> came = decode<TypeParam>(line);
        if (std::holds_alternative<rejection>(came)) {
            ASSERT_TRUE(is_plain_text(std::get<rejection>(came).text())) << line;
            ASSERT_LE(std::get<rejection>(came).text().size(), longest_reason);
            continue;
        }
        ++understood;
        ASSERT_TRUE(std::get<TypeParam>(decode<TypeParam>(line_of(std::get<TypeParam>(came)))) ==
                    std::get<TypeParam>(came));
    }
    EXPECT_GT(understood, 500);  // or the changes were too many to test anything
}

TEST(protocol_line, names_what_is_wrong_with_it) {
    EXPECT_EQ(why(decode_to_coordinator(R"({"type":"inform","phase":1,"operation":"write","left_s":-1})")),
              "inform.left_s: -1; expected a number from 0 to 1e+09");
    EXPECT_EQ(why(decode_to_coordinator(R"({"type":"inform","phase":1,"operation":"erase"})")),
              "inform.operation: 'erase'; expected one of write, read, metadata");
    EXPECT_EQ(why(decode_to_coordinator(R"({"type":"release"})")),
              "release.phase: missing; expected a whole number from 1 to 18446744073709551615");
    EXPECT_EQ(why(decode_to_coordinator(R"({"type":"release","phase":1.5})")),
              "release.phase: 1.5; expected a whole number from 1 to 18446744073709551615");
    EXPECT_EQ(why(decode_to_coordinator(R"({"type":"hello"})")), "type: 'hello'; expected a known message");
    EXPECT_EQ(why(decode_to_coordinator(R"([1,2])")), "line: [1,2]; expected a JSON object");
    EXPECT_EQ(why(decode_to_coordinator("")), "line: ; expected a JSON object");
}

TEST(protocol_line, may_have_unknown_fields_and_twice_the_same_one) {
    for (const char* line :
         {R"({"later":{"a":[1]},"phase":7,"type":"release","phase":8})",
          R"({"type":"release","later":0,"phase":7,"phase":8})", R"({"phase":7,"phase":8,"type":"release"})",
          R"({"type":"release","phase":7,"phase":8})"}) {
        const auto came = decode_to_coordinator(line);
        ASSERT_EQ(why(came), "understood");
        EXPECT_EQ(std::get<release>(std::get<to_coordinator>(came)).phase, 7U) << line;
    }
}

TEST(protocol_line, leaves_out_what_says_nothing) {
    EXPECT_EQ(line_of(to_coordinator(inform{.phase = 3})), R"({"type":"inform","phase":3,"operation":"write"})");
    EXPECT_EQ(line_of(to_coordinator(inform{.phase = 3, .left_s = 0.1, .demand = 0})),
              R"({"type":"inform","phase":3,"operation":"write","left_s":0.1,"demand":0})");
    EXPECT_EQ(line_of(from_coordinator(refused{.reason = "no", .again_s = 0})),
              R"({"type":"refused","reason":"no","again_s":0})");
}

TEST(protocol_line, holds_numbers_in_any_spelling) {
    const auto in_s = [](const std::string& number) {
        const auto came = decode_to_coordinator(R"({"type":"expect","in_s":)" + number + "}");
        return std::holds_alternative<rejection>(came) ? -1 : std::get<expect>(std::get<to_coordinator>(came)).in_s;
    };
    EXPECT_EQ(in_s("0.0000000000000000000000000000000000000000"), 0);
    EXPECT_EQ(in_s("0e-1000"), 0);
    EXPECT_EQ(in_s("0." + std::string(1000, '0') + "e9"), 0);
    EXPECT_EQ(in_s("1" + std::string(30, '0') + "e-25"), 100000);
    EXPECT_EQ(in_s("0.1000000000000000055511151231257827"), 0.1);
    EXPECT_EQ(in_s("-0"), 0);
    for (const char* wrong : {"1e999", "01", "1.", ".5", "+1", "1e", "0x10", "NaN", "Infinity", "10000000000"})
        EXPECT_EQ(in_s(wrong), -1) << wrong;
}

TEST(protocol_line, of_anything_does_no_harm) {
    const std::string deep(longest_line, '[');
    EXPECT_EQ(std::get<rejection>(decode_to_coordinator(deep)).what, rejection::kind::not_json);
    std::string nested = R"({"type":"release","phase":)";
    for (int i = 0; i < 20000; ++i) nested += '[';
    for (int i = 0; i < 20000; ++i) nested += ']';
    EXPECT_EQ(why(decode_to_coordinator(nested + "}")),
              "release.phase: a list; expected a whole number from 1 to 18446744073709551615");
    EXPECT_EQ(why(decode_to_coordinator(std::string(longest_line + 1, ' '))),
              "line: 65537 bytes; expected at most 65536");
    using namespace std::string_literals;
    EXPECT_EQ(why(decode_to_coordinator("{\"type\":\"withdraw\"}\0{"s)),
              "line: {\"type\":\"withdraw\"}?{; expected JSON without zero bytes");
    EXPECT_EQ(why(decode_to_coordinator("{\"type\":\"\xff\"}")), "line: {\"type\":\"?\"}; expected a JSON object");
    EXPECT_EQ(why(decode_to_coordinator(R"({"type":"release","phase":1e999})")),
              "line: {\"type\":\"release\",\"phase\":1e999}; expected a JSON object");
}

TEST(protocol_line, is_shown_in_ascii_on_every_processor) {
    EXPECT_EQ(excerpt("a\x7f\xc3\xa9z"), "a???z");
    EXPECT_EQ(begin_of("aé時", 6), "aé時");
    EXPECT_EQ(begin_of("aé時", 5), "aé");
    EXPECT_EQ(begin_of("aé時", 2), "a");
    EXPECT_EQ(begin_of("時", 1), "");
}

TEST(protocol_line, holds_nothing_that_a_terminal_obeys) {
    EXPECT_TRUE(is_plain_text("job 12, é 時 \U0001F300"));
    for (const char* text :
         {"\x1b[2J", "\x7f", "\xc2\x9b", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "a\n"})
        EXPECT_FALSE(is_plain_text(text)) << excerpt(text);
    registration r{.job = "\x1b[2J", .node = "n", .secret = "0123456789abcdef"};
    EXPECT_EQ(std::get<rejection>(encode(to_coordinator(r))).text(),
              "register.job: 4 bytes, '?[2J'; expected UTF-8 text of 1 to 256 bytes without control characters");
}

}  // namespace
}  // namespace halcyon::coordinate
