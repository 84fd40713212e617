#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hdf5_reading.hpp"
#include "job_builder.hpp"
#include "offload/store/hdf5/hdf5_store.hpp"
#include "offload/store/hdf5/hdf5_view.hpp"
#include "temporary_folder.hpp"

namespace halcyon::offload::testing {

using strings = std::vector<std::string>;
using ints = std::vector<int64_t>;
using reals = std::vector<double>;

/// A folder into which writers publish files, and the view of them.
class view : public ::testing::Test {
  protected:
    /// Publishes what `fill` puts into a job.
    void publish(const std::string& writer, const ints& iterations, const std::function<void(job_builder&)>& fill,
                 int part = 0, const std::vector<missing_block>& missing = {}) {
        job_builder b;
        fill(b);
        file_job job =
            b.job(folder_.file(file_name("sim", writer, iterations.front(), part, ".h5")), iterations, writer, part);
        job.missing = missing;
        const result<file_report> report = store_.write(job);
        ASSERT_TRUE(report.ok()) << report.why().message;
    }

    /// One float per iteration of a client, 100 iteration + rank, placed side by side.
    void publish_line(const std::string& writer, int rank, const ints& iterations, int part = 0) {
        publish(
            writer, iterations,
            [&](job_builder& b) {
                variable& v = b.add_variable("v", scalar_type::float32);
                v.place_id = b.add_place("whole");
                for (const int64_t i : iterations) {
                    b.add_block(v, i, rank, {1}, std::vector<float>{static_cast<float>(100 * i + rank)}, {2}, {rank});
                }
            },
            part);
    }

    /// A file of all servers: a line of four, 100 iteration + place.
    void publish_whole(const ints& iterations) {
        job_builder b;
        variable& v = b.add_variable("v", scalar_type::float32);
        v.place_id = b.add_place("whole");
        shared_file file;
        file.about =
            b.job(folder_.file(file_name("sim", all_servers, iterations.front(), 0, ".h5")), iterations, all_servers);
        shared_dataset d;
        d.shape.dimensions = d.shape.global = {4};
        d.shape.offset = d.shape.ghost_before = d.shape.ghost_after = {0};
        d.row_count = static_cast<int64_t>(iterations.size());
        reals values;
        for (size_t row = 0; row < iterations.size(); ++row) {
            d.rows.push_back(static_cast<int64_t>(row));
            for (int x = 0; x < 4; ++x) values.push_back(static_cast<double>(100 * iterations[row] + x));
        }
        d.covered = true;
        file.datasets = {d};
        const result<void> made = store_.lay_out(file);
        ASSERT_TRUE(made.ok()) << made.why().message;
        const std::string temporary = file.about.path + ".tmp";
        const hid_t h = H5Fopen(temporary.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
        const hid_t whole = H5Dopen2(h, "/v/whole", H5P_DEFAULT);
        EXPECT_GE(H5Dwrite(whole, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        H5Dclose(whole);
        EXPECT_GE(H5Fclose(h), 0);
        std::filesystem::rename(temporary, file.about.path);
    }

    int64_t rebuild(const strings& writers) {
        const result<int64_t> count = builder_->rebuild(writers);
        EXPECT_TRUE(count.ok()) << (count.ok() ? "" : count.why().message);
        return count.ok() ? *count : -1;
    }

    reals shown(const std::string& dataset) { return numbers(view_, dataset); }

    halcyon::tests::temporary_folder folder_;
    std::string view_ = folder_.file("sim.h5");
    hdf5::hdf5_store store_;
    std::unique_ptr<view_builder> builder_ = std::make_unique<hdf5::hdf5_view>(folder_.path().string(), "sim");
};

}  // namespace halcyon::offload::testing
