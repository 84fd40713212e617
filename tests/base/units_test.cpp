#include "base/units.hpp"

#include <gtest/gtest.h>

#include "base/closest_name.hpp"

namespace halcyon {
namespace {

using std::chrono::nanoseconds;

int64_t bytes(std::string_view text) {
    return parse_bytes(text).value();
}
nanoseconds duration(std::string_view text) {
    return parse_duration(text).value();
}

TEST(units, bytes_take_binary_and_decimal_units) {
    EXPECT_EQ(bytes("0"), 0);
    EXPECT_EQ(bytes("4096"), 4096);
    EXPECT_EQ(bytes("7 B"), 7);
    EXPECT_EQ(bytes("3KiB"), 3072);
    EXPECT_EQ(bytes("256 MiB"), int64_t{256} << 20);
    EXPECT_EQ(bytes("2 TiB"), int64_t{2} << 40);
    EXPECT_EQ(bytes("10 kB"), 10'000);
    EXPECT_EQ(bytes("3 TB"), 3'000'000'000'000);
}

TEST(units, fractions_are_exact) {
    EXPECT_EQ(bytes("1.5 GiB"), 1'610'612'736);
    EXPECT_EQ(bytes("0.1 GB"), 100'000'000);
    EXPECT_EQ(duration("0.3us"), nanoseconds(300));
}

TEST(units, the_largest_size_is_accepted_and_one_more_is_not) {
    EXPECT_EQ(bytes("8388607 TiB"), int64_t{8388607} << 40);
    const auto beyond = parse_bytes("8388608 TiB");
    ASSERT_FALSE(beyond.ok());
    EXPECT_EQ(
        beyond.why().message,
        "'8388608 TiB' is not a size: it is beyond 2^63-1; expected a number and one of B, KiB, MiB, GiB, TiB, kB, "
        "MB, GB, TB, e.g. 256 MiB");
}

TEST(units, durations_take_their_units) {
    EXPECT_EQ(duration("0"), nanoseconds(0));
    EXPECT_EQ(duration("20 us"), nanoseconds(20'000));
    EXPECT_EQ(duration("1s"), nanoseconds(1'000'000'000));
    EXPECT_EQ(duration("2 min"), nanoseconds(120'000'000'000));
}

TEST(units, a_wrong_quantity_says_why) {
    const auto reason = [](std::string_view text) {
        const auto parsed = parse_duration(text);
        EXPECT_FALSE(parsed.ok()) << text;
        if (parsed.ok()) return std::string();
        EXPECT_EQ(parsed.why().kind, error_kind::config);
        const std::string& message = parsed.why().message;
        const size_t from = message.find(": ") + 2;
        return message.substr(from, message.find(';') - from);
    };
    EXPECT_EQ(reason("5"), "the unit is missing");
    EXPECT_EQ(reason("5 hours"), "the unit is not known");
    EXPECT_EQ(reason("5 S"), "the unit is not known");
    EXPECT_EQ(reason("-5 s"), "it is negative");
    EXPECT_EQ(reason("s"), "it does not begin with a number");
    EXPECT_EQ(reason("."), "it does not begin with a number");
    EXPECT_EQ(reason(""), "it does not begin with a number");
    EXPECT_EQ(reason("0.5 ns"), "it is not a whole number of nanoseconds");
    EXPECT_EQ(reason("1.2.3 s"), "the unit is not known");
    EXPECT_EQ(reason("1234567890123456789 s"), "too many digits");
    EXPECT_EQ(reason("0.0000000000000000000000001 s"), "too many digits");
    EXPECT_EQ(reason("1e3 s"), "the unit is not known");
}

TEST(units, sizes_are_printed_in_the_largest_unit_that_fits) {
    EXPECT_EQ(format_bytes(0), "0 B");
    EXPECT_EQ(format_bytes(1023), "1023 B");
    EXPECT_EQ(format_bytes(1536), "1.5 KiB");
    EXPECT_EQ(format_bytes(int64_t{256} << 20), "256 MiB");
    EXPECT_EQ(format_bytes(int64_t{5000} << 40), "5000 TiB");
}

TEST(closest_name, finds_slips_and_nothing_else) {
    const std::vector<std::string> known{"dimensions", "type", "simulation"};
    EXPECT_EQ(closest_name("dimension", known), "dimensions");
    EXPECT_EQ(closest_name("tpye", known), "type");
    EXPECT_EQ(closest_name("TYPE", known), "type");
    EXPECT_EQ(closest_name("simulaton", known), "simulation");
    EXPECT_EQ(closest_name("colour", known), std::nullopt);
    EXPECT_EQ(closest_name("", known), std::nullopt);
}

TEST(closest_name, lists_are_sorted_and_bounded) {
    EXPECT_EQ(list_names({}), "none");
    EXPECT_EQ(list_names({"b", "a"}), "a, b");
    std::vector<std::string> many;
    for (int i = 0; i < 30; ++i) many.push_back("n" + std::to_string(100 + i));
    EXPECT_TRUE(list_names(many).ends_with("n122, n123, … (6 more)"));
}

TEST(closest_name, messages_stay_on_one_short_line) {
    EXPECT_EQ(printable("a\nb\tc\x01"), "a\\nb\\tc\\x01");
    EXPECT_EQ(printable(std::string(79, 'x') + "é"), std::string(79, 'x') + "…");
    EXPECT_EQ(printable("é"), "é");
}

}  // namespace
}  // namespace halcyon
