#include "calls/backend_conformance.hpp"
#include "logfs/backend/mounted_log.hpp"

namespace halcyon::calls {
namespace {

// Hard links there are none; what a container shows in a mapping is a copy. A descriptor is handed on as such, not by
// a key.
INSTANTIATE_TEST_SUITE_P(log, backend_conformance,
                         ::testing::Values(backend_offer{
                             .name = "log",
                             .backend = []() -> file_backend& { return logfs::mounted_log::of_process().files(); },
                             .maps = false,
                             .links = false}),
                         name_of_offer);

}  // namespace
}  // namespace halcyon::calls
