#include "hdf5_reading.hpp"
#include "offload/store/store.hpp"
#include "store_conformance.hpp"

namespace halcyon::offload::testing {
namespace {

std::unique_ptr<file_store> make() {
    return std::unique_ptr<file_store>(load_store_module("hdf5").value().make_file_store());
}

INSTANTIATE_TEST_SUITE_P(hdf5, store_conformance, ::testing::Values(store_under_test{"hdf5", make, read_hdf5}));

}  // namespace
}  // namespace halcyon::offload::testing
