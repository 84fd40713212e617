#include "base/fnv.hpp"

#include <gtest/gtest.h>

namespace halcyon {
namespace {

uint64_t hash_of(std::string_view text) {
    fnv1a hash;
    hash.add(text);
    return hash.value();
}

TEST(fnv1a, is_that_of_its_authors) {
    EXPECT_EQ(hash_of(""), 0xcbf29ce484222325U);
    EXPECT_EQ(hash_of("a"), 0xaf63dc4c8601ec8cU);
    EXPECT_EQ(hash_of("foobar"), 0x85944171f73967e8U);
}

TEST(fnv1a, of_a_seed_is_another_one) {
    fnv1a seeded(7);
    seeded.add("a");
    EXPECT_NE(seeded.value(), hash_of("a"));
    fnv1a again(7);
    again.add("a");
    EXPECT_EQ(seeded.value(), again.value());
}

}  // namespace
}  // namespace halcyon
