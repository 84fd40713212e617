#include "base/crc32c.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace halcyon {
namespace {

/// RFC 3720, B.4.
TEST(crc32c, sums_are_those_of_the_standard) {
    for (const auto sum : {crc32c, crc32c_by_table}) {
        std::vector<std::byte> bytes(32);
        EXPECT_EQ(sum(bytes, 0), 0x8a9136aaU);
        for (std::byte& b : bytes) b = std::byte{0xff};
        EXPECT_EQ(sum(bytes, 0), 0x62a8ab43U);
        for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
        EXPECT_EQ(sum(bytes, 0), 0x46dd794eU);
        const std::string digits = "123456789";
        EXPECT_EQ(sum(std::as_bytes(std::span(digits.data(), digits.size())), 0), 0xe3069283U);
    }
}

TEST(crc32c, instruction_and_table_agree_on_every_length_and_alignment) {
    std::mt19937 random(1);
    std::vector<std::byte> bytes(20000);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    for (size_t length = 0; length < bytes.size() - 8; length += length < 100 ? 1 : 1 + random() % 517) {
        const auto part = std::span(bytes).subspan(random() % 8, length);
        ASSERT_EQ(crc32c(part), crc32c_by_table(part)) << length;
    }
}

TEST(crc32c, what_is_copied_is_summed) {
    std::mt19937 random(3);
    std::vector<std::byte> bytes(512);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    for (size_t length = 0; length <= bytes.size(); length += 8) {
        const auto part = std::span(bytes).first(length);
        std::vector<std::byte> copied(bytes.size(), std::byte{7});
        ASSERT_EQ(copy_with_crc32c(copied.data(), part, 5), crc32c(part, 5)) << length;
        ASSERT_TRUE(std::equal(part.begin(), part.end(), copied.begin())) << length;
        for (size_t i = length; i < copied.size(); ++i) ASSERT_EQ(copied[i], std::byte{7}) << length;
    }
}

TEST(crc32c, sum_goes_on_where_another_ended) {
    std::mt19937 random(2);
    std::vector<std::byte> bytes(9000);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    const uint32_t whole = crc32c(bytes);
    for (int i = 0; i < 100; ++i) {
        const size_t at = random() % bytes.size();
        EXPECT_EQ(crc32c(std::span(bytes).subspan(at), crc32c(std::span(bytes).first(at))), whole);
    }
}

}  // namespace
}  // namespace halcyon
