// What the log says of faults.
#include "coordinate/daemon/fault_report.hpp"

#include <gtest/gtest.h>

namespace halcyon::coordinate {
namespace {

constexpr int64_t pause_ns = 10'000'000'000;

TEST(fault_report, says_what_is_new_and_nothing_of_a_count_that_has_fallen) {
    fault_report report;
    counts of_machine;
    daemon_counts of_daemon;
    of_machine.refused_rate = 5;
    of_machine.messages = 7;
    EXPECT_EQ(report.news(of_machine, of_daemon, 0), "Connections closed: too many messages (5)");
    of_machine.refused_rate = 3;
    of_daemon.refused_reloads = 1;
    EXPECT_EQ(report.news(of_machine, of_daemon, pause_ns - 1), "") << "it is too early";
    EXPECT_EQ(report.news(of_machine, of_daemon, pause_ns),
              "Times a wrong configuration was refused and the old one kept (1)");
    of_machine.refused_rate = 4;
    EXPECT_EQ(report.news(of_machine, of_daemon, 2 * pause_ns), "Connections closed: too many messages (1)");
}

TEST(fault_report, looks_four_times_a_second) {
    fault_report report;
    counts of_machine;
    EXPECT_EQ(report.news(of_machine, {}, 0), "");
    of_machine.refused_rate = 1;
    EXPECT_EQ(report.news(of_machine, {}, 249'999'999), "");
    EXPECT_EQ(report.news(of_machine, {}, 250'000'000), "Connections closed: too many messages (1)");
}

}  // namespace
}  // namespace halcyon::coordinate
