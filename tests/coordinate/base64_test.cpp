// Keys and values as etcd's JSON has them.
#include "coordinate/election/base64.hpp"

#include <gtest/gtest.h>

namespace halcyon::coordinate {
namespace {

TEST(base64, is_that_of_rfc_4648) {
    const std::pair<const char*, const char*> vectors[] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
    };
    for (const auto& [bytes, text] : vectors) {
        EXPECT_EQ(to_base64(bytes), text);
        EXPECT_EQ(from_base64(text), bytes);
    }
}

TEST(base64, holds_all_bytes) {
    std::string all;
    for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
    EXPECT_EQ(from_base64(to_base64(all)), all);
}

TEST(base64, of_something_else_is_refused) {
    for (const char* text : {"Zg=", "Zg", "Z===", "Zm9v!mFy", "====", "Zg==Zg=="})
        EXPECT_FALSE(from_base64(text)) << text;
}

}  // namespace
}  // namespace halcyon::coordinate
