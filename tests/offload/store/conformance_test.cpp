#include "hdf5_reading.hpp"
#include "offload/store/store.hpp"
#include "store_conformance.hpp"
#include "zarr_reading.hpp"

namespace halcyon::offload::testing {
namespace {

store_under_test named(const std::string& type, contents (*read)(const std::string& path)) {
    return {type, [type] { return load_store_module(type).value(); }, read};
}

INSTANTIATE_TEST_SUITE_P(hdf5, store_conformance, ::testing::Values(named("hdf5", read_hdf5)));
INSTANTIATE_TEST_SUITE_P(zarr, store_conformance, ::testing::Values(named("zarr", read_zarr)));

}  // namespace
}  // namespace halcyon::offload::testing
