#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>

#include "hdf5_reading.hpp"
#include "job_builder.hpp"
#include "offload/store/store.hpp"
#include "small_disk.hpp"
#include "temporary_folder.hpp"
#include "zarr_reading.hpp"

namespace halcyon::offload::testing {
namespace {

/// Of the modules that store to files.
class tiny_disk : public ::testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        if (!disk_.is_there()) GTEST_SKIP() << disk_.why_not();
    }

    void expect_full(const file_job& job) {
        const result<file_report> report = store_->write(job);
        ASSERT_FALSE(report.ok());
        EXPECT_EQ(report.why().kind, error_kind::system);
        EXPECT_EQ(report.why().system_errno, ENOSPC) << report.why().message;
        EXPECT_NE(report.why().message.find(job.path), std::string::npos) << report.why().message;
        EXPECT_NE(report.why().message.find("No space left on device"), std::string::npos) << report.why().message;
        EXPECT_TRUE(folder_.names().empty());
    }

    halcyon::tests::temporary_folder folder_;
    halcyon::tests::small_disk disk_{folder_.path()};
    const std::string type_ = GetParam();
    std::unique_ptr<file_store> store_{load_store_module(type_).value().make_file_store()};

    [[nodiscard]] contents read(const std::string& path) const {
        return type_ == "zarr" ? read_zarr(path) : read_hdf5(path);
    }
};

TEST_P(tiny_disk, a_block_that_does_not_fit_leaves_nothing_and_the_next_one_is_stored) {
    for (int round = 0; round < 20; ++round) {
        job_builder large;
        large.add_block(large.add_variable("v", scalar_type::float32), 0, 0, {1 << 20}, std::vector<float>(1 << 20));
        expect_full(large.job(folder_.file("large.h5"), {0}));

        job_builder small;
        small.add_block(small.add_variable("v", scalar_type::float32), 0, 0, {1000}, counting<float>(1000));
        const file_job job = small.job(folder_.file("small.h5"), {0});
        const result<file_report> report = store_->write(job);
        ASSERT_TRUE(report.ok()) << report.why().message;
        EXPECT_TRUE(read(job.path) == contents_of(job));
        std::filesystem::remove_all(job.path);
    }
}

TEST_P(tiny_disk, metadata_that_does_not_fit_at_close_is_a_failure_too) {
    // The blocks are small enough for the disk, their datasets' descriptions are not.
    job_builder many;
    const variable& v = many.add_variable("v", scalar_type::float32);
    for (int rank = 0; rank < 3000; ++rank) many.add_block(v, 0, rank, {1}, std::vector<float>{1});
    expect_full(many.job(folder_.file("many.h5"), {0}));
}

TEST_P(tiny_disk, an_older_file_of_the_same_name_survives) {
    job_builder small;
    small.add_block(small.add_variable("v", scalar_type::float32), 0, 0, {1000}, counting<float>(1000));
    const file_job job = small.job(folder_.file("f.h5"), {0});
    ASSERT_TRUE(store_->write(job).ok());
    job_builder large;
    large.add_block(large.add_variable("v", scalar_type::float32), 0, 0, {1 << 20}, std::vector<float>(1 << 20));
    EXPECT_FALSE(store_->write(large.job(folder_.file("f.h5"), {0})).ok());
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"f.h5"});
    EXPECT_TRUE(read(job.path) == contents_of(job));
}

INSTANTIATE_TEST_SUITE_P(stores, tiny_disk, ::testing::Values("hdf5", "zarr"));

}  // namespace
}  // namespace halcyon::offload::testing
