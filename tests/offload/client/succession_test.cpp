#include "offload/client/succession.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include "base/descriptor.hpp"
#include "offload/segment/session_document.hpp"

namespace halcyon::offload {
namespace {

constexpr const char* configuration = "halcyon: 1\nsimulation: quiet\nresources: {buffer: {size: 1 MiB}}\n";

TEST(succession, appoints_nobody_after_a_server_that_ended_in_order) {
    const model data = parse_model(configuration, "quiet.yaml", {}).value();
    segment shared = segment::create(plan_segment(data, 1, need_of(data, 0, 1).value()).value(), false).value();
    segment_header& h = shared.header();
    const tenure second = tenure{}.in_service().successor().in_service();
    ASSERT_TRUE(h.tenure.change(tenure{}, second));
    h.state = server_state::finished;
    const descriptor stop(::eventfd(0, EFD_CLOEXEC));
    succession::about about;
    about.session = random_session_id();
    about.environment.server = "/bin/false";
    // This client saw the first server end, and comes late: the second one has served and finished.
    EXPECT_FALSE(succession(about, shared, shared.fd(), stop.get()).after(1));
    EXPECT_EQ(h.tenure.load(), second);
}

}  // namespace
}  // namespace halcyon::offload
