#include "base/fnv.hpp"

#include <gtest/gtest.h>

namespace halcyon {
namespace {

constexpr uint64_t hash_of(std::string_view text, uint64_t seed = 0) {
    fnv1a hash(seed);
    hash.add(text);
    return hash.value();
}

// http://www.isthe.com/chongo/tech/comp/fnv: 64 bits.
TEST(fnv, is_that_of_the_authors) {
    EXPECT_EQ(hash_of(""), 0xcbf29ce484222325);
    EXPECT_EQ(hash_of("a"), 0xaf63dc4c8601ec8c);
    EXPECT_EQ(hash_of("foobar"), 0x85944171f73967e8);
}

TEST(fnv, is_another_one_with_each_seed_and_the_same_with_the_same) {
    EXPECT_NE(hash_of("a", 1), hash_of("a"));
    EXPECT_NE(hash_of("a", 1), hash_of("a", 2));
    EXPECT_EQ(hash_of("", 5), hash_of("") ^ 5U);
}

}  // namespace
}  // namespace halcyon
