// Libraries that are opened when they are asked for.
#include "base/loaded_library.hpp"

#include <gtest/gtest.h>

namespace halcyon {
namespace {

TEST(loaded_library, finds_its_functions) {
    loaded_library library("libm.so.6");
    double (*root)(double) = nullptr;
    library.find("sqrt", root);
    ASSERT_NE(root, nullptr);
    EXPECT_EQ(root(4), 2);
    EXPECT_EQ(library.why_not(), "");
}

TEST(loaded_library, says_which_function_it_lacks) {
    loaded_library library("libm.so.6");
    double (*root)(double) = nullptr;
    library.find("square_circle", root);
    EXPECT_EQ(root, nullptr);
    EXPECT_EQ(library.why_not(), "libm.so.6 has no square_circle");
}

TEST(loaded_library, says_why_it_cannot_be_opened) {
    loaded_library library("libno_such.so.1");
    double (*root)(double) = nullptr;
    library.find("sqrt", root);
    EXPECT_EQ(root, nullptr);
    EXPECT_NE(library.why_not().find("libno_such.so.1"), std::string::npos) << library.why_not();
}

}  // namespace
}  // namespace halcyon
