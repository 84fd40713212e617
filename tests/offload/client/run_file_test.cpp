#include "offload/client/run_file.hpp"

#include <gtest/gtest.h>

namespace halcyon::offload {
namespace {

constexpr store_traits shown{.ending = ".h5", .is_folder = false, .view_endings = {".h5", ".xmf"}};
constexpr store_traits folders{.ending = ".zarr", .is_folder = true, .view_endings = {}};

TEST(run_file, knows_what_a_run_left_in_each_format) {
    for (const std::string name :
         {"cloud.n0000.i00000003.h5", "cloud.c00012.i00000003.p01.h5", ".cloud.n0000.i00000003.p02.h5",
          "cloud.all.i00000003.h5.tmp", "cloud.all.i00000003.h5.layout.tmp", "cloud.h5", "cloud.xmf", "cloud.h5.tmp",
          ".cloud.view.host.4026.17.5.h5", ".cloud.view.host.4026.17.5.xmf"}) {
        EXPECT_TRUE(is_of_format(name, "cloud", shown)) << name;
        EXPECT_FALSE(is_of_format(name, "cloud", folders)) << name;
        EXPECT_FALSE(is_of_format(name, "clou", shown)) << name;
    }
    for (const std::string name :
         {"cloud.n0000.i00000003.zarr", ".cloud.n0000.i00000003.p02.zarr", "cloud.n0000.i00000003.zarr.tmp"}) {
        EXPECT_TRUE(is_of_format(name, "cloud", folders)) << name;
        EXPECT_FALSE(is_of_format(name, "cloud", shown)) << name;
    }
}

TEST(run_file, leaves_what_is_somebody_elses) {
    for (const std::string name :
         {"cloud.yaml", "cloud.n0000.png", "cloud.n0000.i00000003.png", "cloud.zarr", "cloud.h5.bak",
          "cloud.b.n0000.i00000003.h5", "storm.n0000.i00000003.h5", "cloud.n0000.i00000003.h5.png", "cloud.notes.h5"}) {
        EXPECT_FALSE(is_of_format(name, "cloud", shown)) << name;
        EXPECT_FALSE(is_of_format(name, "cloud", folders)) << name;
    }
}

TEST(run_file, knows_the_records_of_a_run) {
    for (const std::string name : {"run.json", "run.json.tmp", "counts-n0000.json", ".counts-c00003.json.room",
                                   "steering-n0000.csv", "socket-n0000.json"})
        EXPECT_TRUE(is_record_of_run(name)) << name;
    for (const std::string name : {"counts.json", "run.jsonl", "cloud.h5"})
        EXPECT_FALSE(is_record_of_run(name)) << name;
}

}  // namespace
}  // namespace halcyon::offload
