#include "base/line_socket/line_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace halcyon {
namespace {

using namespace std::string_literals;

struct cut {
    std::vector<std::string> lines;
    bool too_long = false;
    size_t left = 0;
    friend bool operator==(const cut&, const cut&) = default;
};

/// Feeds the stream in pieces of the sizes that `piece_bytes` gives.
template <class PieceBytes>
cut cut_in_pieces(const std::string& stream, size_t most_line_bytes, PieceBytes piece_bytes) {
    line_buffer buffer(most_line_bytes);
    cut c;
    for (size_t at = 0; at < stream.size() && !buffer.too_long();) {
        const auto room = buffer.room();
        EXPECT_FALSE(room.empty());
        const size_t bytes = std::min({piece_bytes(), room.size(), stream.size() - at});
        std::memcpy(room.data(), stream.data() + at, bytes);
        buffer.filled(bytes);
        at += bytes;
        while (const auto line = buffer.next()) c.lines.emplace_back(*line);
    }
    EXPECT_LE(buffer.capacity(), most_line_bytes + 2);
    c.too_long = buffer.too_long();
    c.left = c.too_long ? 0 : buffer.left();
    return c;
}

/// The same by another way.
cut cut_at_once(const std::string& stream, size_t most_line_bytes) {
    cut c;
    size_t at = 0;
    while (true) {
        const size_t lf = stream.find('\n', at);
        std::string line = stream.substr(at, lf == std::string::npos ? lf : lf - at);
        const size_t raw = line.size();
        if (line.ends_with('\r')) line.pop_back();
        c.too_long = line.size() > most_line_bytes;
        c.left = c.too_long ? 0 : raw;
        if (c.too_long) return c;
        if (lf == std::string::npos) return c;
        c.lines.push_back(line);
        at = lf + 1;
    }
}

std::vector<std::string> lines_of(const std::string& stream) {
    return cut_in_pieces(stream, 100, [] { return size_t{1000}; }).lines;
}

TEST(line_buffer, lines_end_with_lf_or_cr_lf) {
    EXPECT_EQ(lines_of("one\ntwo\r\nthree"), (std::vector{"one"s, "two"s}));
    EXPECT_EQ(lines_of("\n\r\n\n"), (std::vector{""s, ""s, ""s})) << "empty lines are lines";
    EXPECT_EQ(lines_of("a\rb\r\r\n"), (std::vector{"a\rb\r"s})) << "only the CR before the LF belongs to the line end";
}

TEST(line_buffer, bytes_that_are_no_text_pass) {
    const std::string odd = "\0\xff\xfe\xc3(\0"s;
    EXPECT_EQ(lines_of(odd + "\n"), std::vector{odd});
}

TEST(line_buffer, a_line_of_the_bound_passes_and_one_byte_more_is_too_long) {
    const std::string longest(10, 'x');
    for (const char* end : {"\n", "\r\n"}) {
        const cut fits = cut_in_pieces("a\n" + longest + end, 10, [] { return size_t{3}; });
        EXPECT_EQ(fits.lines, (std::vector{"a"s, longest}));
        EXPECT_FALSE(fits.too_long);
        const cut more = cut_in_pieces("a\n" + longest + "x" + end + "b\n", 10, [] { return size_t{3}; });
        EXPECT_EQ(more.lines, std::vector{"a"s}) << "what came before it counts, what comes after does not";
        EXPECT_TRUE(more.too_long);
    }
}

TEST(line_buffer, takes_memory_only_for_the_lines_that_come) {
    line_buffer buffer(size_t{1} << 20);
    EXPECT_LE(buffer.capacity(), 4096U);
    for (int i = 0; i < 1000; ++i) {
        const auto room = buffer.room();
        const size_t bytes = std::min<size_t>(room.size(), 100);
        std::fill_n(room.data(), bytes, '\n');
        buffer.filled(bytes);
        while (buffer.next()) {
        }
    }
    EXPECT_LE(buffer.capacity(), 4096U);
}

std::string random_stream(std::mt19937& random) {
    std::string stream;
    const size_t bytes = random() % 20'000, mean_line_bytes = 1 + random() % 3000;
    while (stream.size() < bytes) {
        const size_t what = random() % (2 * mean_line_bytes);
        stream += what == 0 ? "\n" : what == 1 ? "\r\n" : std::string(1, static_cast<char>(random()));
    }
    return stream;
}

TEST(line_buffer, however_a_stream_is_chopped_the_lines_are_the_same) {
    size_t lines = 0, too_long = 0;
    for (uint32_t seed = 0; seed < 500; ++seed) {
        std::mt19937 random(seed);
        const std::string stream = random_stream(random);
        const size_t most_line_bytes = 1 + random() % 9000, most_piece = 1 + random() % 7000;
        const cut expected = cut_at_once(stream, most_line_bytes);
        const cut got = cut_in_pieces(stream, most_line_bytes, [&] { return 1 + random() % most_piece; });
        ASSERT_EQ(got, expected) << "seed " << seed;
        lines += expected.lines.size();
        too_long += expected.too_long ? 1 : 0;
    }
    // The streams try what they should.
    EXPECT_GT(lines, 10'000U);
    EXPECT_GT(too_long, 40U);
    EXPECT_LT(too_long, 450U);
}

}  // namespace
}  // namespace halcyon
