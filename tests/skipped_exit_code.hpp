#pragma once

#include <gtest/gtest.h>

namespace halcyon::testing {

/// What a test program returns after RUN_ALL_TESTS() returned `status`: 77, which ctest shows as skipped, when every
/// case was skipped.
inline int exit_code(int status) {
    const auto& run = *::testing::UnitTest::GetInstance();
    const bool all_skipped = run.skipped_test_count() > 0 && run.successful_test_count() == 0;
    return status == 0 && all_skipped ? 77 : status;
}

}  // namespace halcyon::testing
