#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "offload/transform/bitround.hpp"
#include "offload/transform/half.hpp"
#include "offload/transform/shuffle.hpp"
#include "offload/transform/value_range.hpp"

namespace halcyon::offload {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// Every half between zero and infinity, as doubles; bits are the index.
std::vector<double> positive_halves() {
    std::vector<double> values;
    for (uint16_t bits = 0; bits <= 0x7c00; ++bits) values.push_back(half_value(bits));
    return values;
}

/// The half nearest to `v` ≥ 0 by search, ties to even; the oracle that shares no code with the conversion.
uint16_t nearest_half(const std::vector<double>& halves, double v) {
    const double overflow = 65520;
    if (v >= overflow) return 0x7c00;
    const auto above = std::upper_bound(halves.begin(), halves.end() - 1, v);
    const auto high = static_cast<uint16_t>(above - halves.begin());
    const auto low = static_cast<uint16_t>(high - 1);
    if (high == 0x7c00) return v < overflow ? low : high;
    const double to_low = v - halves[low];
    const double to_high = halves[high] - v;
    if (to_low != to_high) return to_low < to_high ? low : high;
    return low % 2 == 0 ? low : high;
}

template <class Float>
uint16_t one_half(Float v) {
    uint16_t bits = 0;
    to_half(std::span<const Float>(&v, 1), std::span<uint16_t>(&bits, 1));
    return bits;
}

TEST(half, every_half_survives_the_way_through_float_and_double) {
    for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
        const auto half = static_cast<uint16_t>(bits);
        const double value = half_value(half);
        if (std::isnan(value)) {
            EXPECT_TRUE(std::isnan(half_value(one_half(value))));
            EXPECT_TRUE(std::isnan(half_value(one_half(static_cast<float>(value)))));
            continue;
        }
        ASSERT_EQ(one_half(value), half) << value;
        ASSERT_EQ(one_half(static_cast<float>(value)), half) << value;
    }
}

TEST(half, nan_payloads_never_become_infinity) {
    for (uint32_t payload = 1; payload < 0x800000; payload += 4097) {
        const auto value = std::bit_cast<float>(0x7f800000U | payload);
        const uint16_t half = one_half(value);
        ASSERT_EQ(half & 0x7c00, 0x7c00);
        ASSERT_NE(half & 0x03ff, 0);
    }
}

TEST(half, rounds_to_nearest_even_around_every_midpoint) {
    const std::vector<double> halves = positive_halves();
    for (size_t i = 0; i + 2 < halves.size(); ++i) {
        const double middle = (halves[i] + halves[i + 1]) / 2;
        for (const double v : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e9)}) {
            ASSERT_EQ(one_half(v), nearest_half(halves, v)) << v;
            const auto single = static_cast<float>(v);
            ASSERT_EQ(one_half(single), nearest_half(halves, single)) << v;
            ASSERT_EQ(one_half(-single), nearest_half(halves, single) | 0x8000) << v;
        }
    }
}

TEST(half, agrees_with_a_search_for_random_numbers) {
    const std::vector<double> halves = positive_halves();
    std::mt19937_64 random(20110522);
    for (int i = 0; i < 200'000; ++i) {
        const auto single = std::bit_cast<float>(static_cast<uint32_t>(random()) & 0x7fffffffU);
        if (!std::isnan(single)) {
            ASSERT_EQ(one_half(single), nearest_half(halves, single)) << single;
        }
        const double wide =
            std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(random() % 60) - 40);
        ASSERT_EQ(one_half(wide), nearest_half(halves, wide)) << wide;
    }
}

TEST(half, a_double_is_rounded_once) {
    // Through float this would round twice: first onto the tie, then to the even neighbour.
    const double just_above_tie = 1.0 + 0x1p-11 + 0x1p-40;
    EXPECT_EQ(half_value(one_half(just_above_tie)), 1.0 + 0x1p-10);
}

TEST(half, counts_finite_values_that_became_infinite) {
    const std::vector<float> in{65519.0F, 65520.0F, -70000.0F, infinity, -infinity, nan, 3.4e38F, 1.0F};
    std::vector<uint16_t> out(in.size());
    EXPECT_EQ(to_half(std::span<const float>(in), out), 3);
    EXPECT_EQ(half_value(out[0]), 65504.0);
    EXPECT_EQ(half_value(out[1]), std::numeric_limits<double>::infinity());
    EXPECT_EQ(half_value(out[2]), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(out[3], 0x7c00);
    EXPECT_EQ(out[4], 0xfc00);
}

template <class Float, class Bits, int mantissa>
void expect_rounded(Float value, int bits) {
    Float out = 0;
    bitround(std::span<const Float>(&value, 1), std::span<Float>(&out, 1), bits);
    const Bits rest = std::bit_cast<Bits>(out) & ((Bits{1} << (mantissa - bits)) - 1);
    ASSERT_EQ(rest, 0U) << value;
    // Normal numbers: half a unit of the last kept bit.
    const Float unit = std::ldexp(Float{1}, std::ilogb(value) - bits);
    ASSERT_LE(std::abs(out - value), unit / 2) << value << " to " << bits << " bits";
    if (std::abs(out - value) == unit / 2 && bits > 0) {
        ASSERT_EQ(std::bit_cast<Bits>(out) >> (mantissa - bits) & 1, 0U) << "tie to even: " << value;
    }
    Float again = 0;
    bitround(std::span<const Float>(&out, 1), std::span<Float>(&again, 1), bits);
    ASSERT_EQ(again, out);
}

TEST(bitround, rounds_to_the_nearest_number_with_that_many_bits) {
    std::mt19937_64 random(5);
    for (int i = 0; i < 50'000; ++i) {
        const int bits = static_cast<int>(random() % 23);
        const auto exponent = static_cast<uint32_t>(1 + random() % 252);
        const auto single = std::bit_cast<float>(exponent << 23 | (static_cast<uint32_t>(random()) & 0x807fffffU));
        expect_rounded<float, uint32_t, 23>(single, bits);
        const uint64_t wide_exponent = 1 + random() % 2044;
        const auto wide = std::bit_cast<double>(wide_exponent << 52 | (random() & 0x800fffffffffffffULL));
        expect_rounded<double, uint64_t, 52>(wide, static_cast<int>(random() % 52));
        const auto tie =
            std::bit_cast<float>(exponent << 23 | 1U << (22 - bits) |
                                 (static_cast<uint32_t>(random()) & (0x7fffffU & ~((1U << (23 - bits)) - 1))));
        expect_rounded<float, uint32_t, 23>(tie, bits);
    }
}

TEST(bitround, keeps_nan_infinity_zero_and_never_makes_infinity) {
    const auto odd_nan = std::bit_cast<float>(0xff800001U);
    std::vector<float> values{odd_nan,
                              infinity,
                              -infinity,
                              0.0F,
                              -0.0F,
                              std::numeric_limits<float>::max(),
                              std::numeric_limits<float>::lowest(),
                              std::numeric_limits<float>::denorm_min()};
    for (int bits = 0; bits < 23; ++bits) {
        std::vector<float> out(values.size());
        bitround(std::span<const float>(values), out, bits);
        EXPECT_EQ(std::bit_cast<uint32_t>(out[0]), 0xff800001U);
        EXPECT_EQ(out[1], infinity);
        EXPECT_EQ(out[2], -infinity);
        EXPECT_EQ(std::bit_cast<uint32_t>(out[3]), 0U);
        EXPECT_EQ(std::bit_cast<uint32_t>(out[4]), 0x80000000U);
        EXPECT_TRUE(std::isfinite(out[5]));
        EXPECT_TRUE(std::isfinite(out[6]));
        EXPECT_LE(out[7], std::ldexp(1.0F, -126));
    }
}

TEST(bitround, works_in_place_and_copies_when_all_bits_are_kept) {
    std::vector<double> values{1.1, -2.7, 3.3e300};
    std::vector<double> copy(3);
    bitround(std::span<const double>(values), copy, 52);
    EXPECT_EQ(copy, values);
    bitround(std::span<const double>(values), copy, 7);
    bitround(std::span<const double>(values), values, 7);
    EXPECT_EQ(copy, values);
}

TEST(shuffle, groups_bytes_by_their_place_in_the_element) {
    for (const size_t size : {1, 2, 4, 8}) {
        const size_t count = 3001;
        std::vector<std::byte> in(size * count);
        std::mt19937 random(7);
        for (std::byte& b : in) b = static_cast<std::byte>(random());
        std::vector<std::byte> out(in.size());
        offload::shuffle(in, out, size);
        for (size_t i = 0; i < count; ++i) {
            for (size_t b = 0; b < size; ++b) ASSERT_EQ(out[b * count + i], in[i * size + b]);
        }
    }
}

template <class T>
value_range range_of_values(const std::vector<T>& values, scalar_type type) {
    return range_of(std::as_bytes(std::span(values)), type);
}

TEST(value_range, bounds_the_values_and_counts_nan) {
    const value_range r = range_of_values<float>({3, nan, -2, nan, 7}, scalar_type::float32);
    EXPECT_EQ(r.min, -2);
    EXPECT_EQ(r.max, 7);
    EXPECT_EQ(r.nan_count, 2);
    const value_range none = range_of_values<float>({nan}, scalar_type::float32);
    EXPECT_TRUE(std::isnan(none.min) && std::isnan(none.max));
    EXPECT_EQ(none.nan_count, 1);
    EXPECT_EQ(range_of_values<uint8_t>({200, 3}, scalar_type::uint8).max, 200);
    EXPECT_EQ(range_of_values<int16_t>({-200, 3}, scalar_type::int16).min, -200);
}

TEST(value_range, widens_where_a_double_cannot_hold_the_integer) {
    const int64_t odd = (int64_t{1} << 53) + 1;
    const value_range r = range_of_values<int64_t>({odd}, scalar_type::int64);
    EXPECT_LE(static_cast<long double>(r.min), static_cast<long double>(odd));
    EXPECT_GE(static_cast<long double>(r.max), static_cast<long double>(odd));
    EXPECT_LT(r.min, r.max);
    const uint64_t top = std::numeric_limits<uint64_t>::max();
    const value_range u = range_of_values<uint64_t>({top}, scalar_type::uint64);
    EXPECT_GE(static_cast<long double>(u.max), static_cast<long double>(top));
}

}  // namespace
}  // namespace halcyon::offload
