#include "coordinate/page/process_facts.hpp"

#include <gtest/gtest.h>

#include <string>

#include "coordinate/page/node_name.hpp"

namespace halcyon::coordinate {
namespace {

// Containers often have the host's name. Of those that begin together, processes have the same numbers and starts, too.
TEST(process_facts, lie_in_files_that_are_named_by_more_of_the_node_than_the_name_of_the_host) {
    char path[300] = {};
    ASSERT_TRUE(process_facts::name_file(path, sizeof path, "/run", "n1", process_slot::owner_of(7, 42)));
    const std::string node = node_name("n1", node_identity::of_this_process());
    EXPECT_EQ(std::string(path), "/run/" + node + ".7.42.coordinate");
}

TEST(process_facts, have_no_file_where_its_path_is_too_long) {
    char path[20] = {};
    EXPECT_FALSE(process_facts::name_file(path, sizeof path, "/run", "n1", process_slot::owner_of(7, 42)));
}

}  // namespace
}  // namespace halcyon::coordinate
