#include "offload/store/file_name.hpp"

#include <gtest/gtest.h>

namespace halcyon::offload {
namespace {

TEST(file_name, says_what_it_was_made_of) {
    for (const int64_t iteration : {0LL, 7LL, 12'345'678LL, 1'234'567'890'123LL})
        for (const int32_t part : {0, 1, 99, 12'345})
            for (const std::string& writer : {node_writer(3), client_writer(12), std::string(all_servers)})
                for (const std::string_view ending : {".h5", ".zarr"}) {
                    const std::string name = file_name("cloud", writer, iteration, part, ending);
                    const auto parsed = parse_file_name(name, "cloud", ending);
                    ASSERT_TRUE(parsed) << name;
                    EXPECT_EQ(parsed->writer, writer);
                    EXPECT_EQ(parsed->first_iteration, iteration);
                    EXPECT_EQ(parsed->part, part);
                    EXPECT_FALSE(parse_file_name(name, "cloud", ".nc")) << name;
                }
}

TEST(file_name, of_anything_else_is_not_understood) {
    const std::string name = file_name("cloud", "n0000", 7, 2, ".h5");
    for (const std::string& other :
         {"." + name, name + ".tmp", "x" + name, std::string("cloud.h5"), std::string("cloud.n0000.i7.h5"),
          std::string("cloud.n0000.i00000007.p00.h5"), std::string("cloud.i00000007.h5"),
          std::string("cloud.n0000.i99999999999999999999.h5"), file_name("cloud.b", "n0000", 7, 0, ".h5")})
        EXPECT_FALSE(parse_file_name(other, "cloud", ".h5")) << other;
}

}  // namespace
}  // namespace halcyon::offload
