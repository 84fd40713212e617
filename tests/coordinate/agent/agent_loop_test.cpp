// What an agent is told by its variables.
#include "coordinate/agent/agent_loop.hpp"

#include <gtest/gtest.h>

namespace halcyon::coordinate {
namespace {

TEST(parse_mounts, splits_a_line_where_the_address_begins) {
    const auto found = parse_mounts("/data/run=5/=unix:/run/a=b.socket\n/scratch=tcp:host:7,unix:/x\n",
                                    "/scratch=/run/m=1\n/data/run=5=/run/m=2\n")
                           .value();
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].path, "/data/run=5");
    EXPECT_EQ(found[0].addresses, "unix:/run/a=b.socket");
    EXPECT_EQ(found[0].munge_socket, "/run/m=2");
    EXPECT_EQ(found[1].path, "/scratch");
    EXPECT_EQ(found[1].addresses, "tcp:host:7,unix:/x");
    EXPECT_EQ(found[1].munge_socket, "/run/m=1");
}

TEST(parse_mounts, refuses_lines_without_an_absolute_path_or_an_address) {
    for (const char* wrong : {"scratch=unix:/a", "/scratch", "/scratch=", "/scratch=/run/a.socket"})
        EXPECT_FALSE(parse_mounts(wrong)) << wrong;
    EXPECT_FALSE(parse_mounts("/scratch=unix:/a", "/scratch"));
}

}  // namespace
}  // namespace halcyon::coordinate
