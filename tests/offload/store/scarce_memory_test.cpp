#include "offload/session/scarce_memory.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "job_builder.hpp"
#include "offload/store/hdf5/hdf5_store.hpp"
#include "temporary_folder.hpp"

namespace halcyon::offload::testing {
namespace {

using halcyon::testing::allocations_left;

TEST(hdf5_store, that_finds_no_memory_says_so_and_leaves_nothing) {
    const halcyon::tests::temporary_folder folder;
    hdf5::hdf5_store store;
    job_builder builder;
    builder.add_block(builder.add_variable("v", scalar_type::float32), 0, 0, {1000}, counting<float>(1000));
    const file_job job = builder.job(folder.file("file.h5"), {0});
    int refused = 0;
    for (int64_t lacking = 1;; ++lacking) {
        allocations_left = lacking;
        const result<file_report> report = store.write(job);
        const bool found_all = allocations_left > 0;
        allocations_left = 0;
        if (report.ok()) {  // whatever it lacked, it can do without
            std::filesystem::remove(job.path);
            if (!found_all) continue;
            EXPECT_GT(refused, 10);
            return;
        }
        ++refused;
        EXPECT_EQ(report.why().kind, error_kind::system) << lacking << ": " << report.why().message;
        EXPECT_EQ(report.why().system_errno, ENOMEM) << lacking << ": " << report.why().message;
        EXPECT_TRUE(folder.names().empty()) << lacking;
    }
}

}  // namespace
}  // namespace halcyon::offload::testing
