#include "offload/store/store_traits.hpp"

#include <gtest/gtest.h>

namespace halcyon::offload {
namespace {

constexpr store_traits plain{.ending = ".plain", .is_folder = true, .view_endings = {}, .is_collective = false};
constexpr store_traits rich{.ending = ".rich", .is_folder = false, .view_endings = {".rich"}, .is_collective = true};

store configured(const std::string& settings) {
    const std::string yaml =
        "halcyon: 1\nsimulation: cloud\nstores:\n  main: {type: plain, path: out" + settings + "}\n";
    return parse_model(yaml, "cloud.yaml", {}).value().stores.front();
}

TEST(store_traits, what_a_format_lacks_is_refused_with_its_line) {
    const auto collective = check_settings(configured(", collective: true"), plain);
    ASSERT_FALSE(collective.ok());
    EXPECT_EQ(collective.why().kind, error_kind::config);
    EXPECT_EQ(collective.why().message,
              "cloud.yaml:4: stores.main.collective: stores of type 'plain' cannot be written by several servers "
              "together; use hdf5");
    const auto view = check_settings(configured(", view-interval: 1 s"), plain);
    ASSERT_FALSE(view.ok());
    EXPECT_EQ(view.why().message,
              "cloud.yaml:4: stores.main.view-interval: stores of type 'plain' have no view, whose interval this would "
              "be; remove the setting, or use hdf5");
}

TEST(store_traits, what_a_format_has_may_be_asked_for) {
    EXPECT_TRUE(check_settings(configured(", collective: true, view-interval: 1 s"), rich).ok());
    EXPECT_TRUE(check_settings(configured(", collective: false"), plain).ok());
    EXPECT_TRUE(check_settings(configured(""), plain).ok());
}

}  // namespace
}  // namespace halcyon::offload
