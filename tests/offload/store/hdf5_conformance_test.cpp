#include "hdf5_reading.hpp"
#include "offload/store/store.hpp"
#include "store_conformance.hpp"

namespace halcyon::offload::testing {
namespace {

store_module module() {
    return load_store_module("hdf5").value();
}

INSTANTIATE_TEST_SUITE_P(hdf5, store_conformance, ::testing::Values(store_under_test{"hdf5", module, read_hdf5}));

}  // namespace
}  // namespace halcyon::offload::testing
