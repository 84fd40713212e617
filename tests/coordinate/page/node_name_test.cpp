#include "coordinate/page/node_name.hpp"

#include <gtest/gtest.h>

namespace halcyon::coordinate {
namespace {

TEST(node_name, is_the_same_for_all_agents_that_one_socket_serves_and_another_one_beside_them) {
    node_identity here;
    std::string("a-boot").copy(here.boot_id.data(), here.boot_id.size());
    here.network_namespace = 7;
    const std::string name = node_name("n1", here);
    EXPECT_EQ(name, node_name("n1", here));
    EXPECT_EQ(name.substr(0, 3), "n1-");
    EXPECT_EQ(name.size(), 3 + 16U) << "64 bits tell thousands of containers apart";
    node_identity container = here;
    container.network_namespace = 8;
    EXPECT_NE(name, node_name("n1", container));
    node_identity other_host = here;
    other_host.boot_id[0] = 'b';
    EXPECT_NE(name, node_name("n1", other_host));
    EXPECT_NE(name, node_name("n2", here));
}

}  // namespace
}  // namespace halcyon::coordinate
