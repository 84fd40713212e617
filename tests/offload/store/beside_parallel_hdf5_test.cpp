#include <gtest/gtest.h>
#include <hdf5.h>

#include <vector>

#include "job_builder.hpp"
#include "offload/store/store.hpp"
#include "temporary_folder.hpp"

#ifndef H5_HAVE_PARALLEL
#error "this test is about a program that links the parallel HDF5"
#endif

namespace halcyon::offload::testing {
namespace {

/// The program's own HDF5 (the parallel one) writes and reads.
std::vector<float> write_and_read(const std::string& path, const std::vector<float>& values) {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t count = values.size();
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    const hid_t dataset = H5Dcreate2(file, "v", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    std::vector<float> read(values.size());
    H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data());
    H5Dclose(dataset);
    H5Sclose(space);
    EXPECT_GE(H5Fclose(file), 0);
    return read;
}

TEST(store_module, works_in_a_program_that_uses_the_parallel_hdf5) {
    halcyon::tests::temporary_folder folder;
    const std::vector<float> values = counting<float>(1000);
    EXPECT_EQ(write_and_read(folder.file("own.h5"), values), values);

    const result<store_module> module = load_store_module("hdf5");
    ASSERT_TRUE(module.ok()) << module.why().message;
    const std::unique_ptr<file_store> store(module->make_file_store());
    job_builder b;
    b.add_block(b.add_variable("v", scalar_type::float32), 0, 0, {1000}, values);
    for (int round = 0; round < 3; ++round) {
        const result<file_report> report = store->write(b.job(folder.file("sim.n0000.i00000000.h5"), {0}));
        ASSERT_TRUE(report.ok()) << report.why().message;
        EXPECT_EQ(write_and_read(folder.file("own.h5"), values), values);
    }
    // Each library reads what the other wrote.
    const hid_t file = H5Fopen(folder.file("sim.n0000.i00000000.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "/v/d000000", H5P_DEFAULT);
    std::vector<float> read(1000);
    EXPECT_GE(H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()), 0);
    EXPECT_EQ(read, values);
    H5Dclose(dataset);
    H5Fclose(file);
}

}  // namespace
}  // namespace halcyon::offload::testing
