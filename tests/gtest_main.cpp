#include <gtest/gtest.h>

#include "skipped_exit_code.hpp"

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    return halcyon::testing::exit_code(RUN_ALL_TESTS());
}
