// How often the text of the metrics is made, and that those who ask nothing keep nobody else from it.
#include "coordinate/daemon/metrics_server.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <vector>

#include "base/clock.hpp"
#include "base/line_socket/socket_connect.hpp"

namespace halcyon::coordinate {
namespace {

using namespace std::chrono_literals;

/// As a text of many applications does.
void take_processor_time(double seconds) {
    const auto taken_s = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
    for (const double until_s = taken_s() + seconds; taken_s() < until_s;) {
    }
}

/// Of a request that is sent, and not answered yet.
descriptor ask(const socket_address& address) {
    descriptor asks = connect_stream(address, 5s).value();
    EXPECT_GT(::send(asks.get(), "GET /metrics HTTP/1.1\r\n\r\n", 25, 0), 0);
    return asks;
}

/// What comes until the server closes the connection.
std::string answer_of(event_loop& loop, const descriptor& asks) {
    std::string answer;
    for (bool open = true; open;) {
        if (!loop.run_once(10'000'000).ok()) return "the loop failed";
        std::array<char, 4096> some;
        const ssize_t got = ::recv(asks.get(), some.data(), some.size(), MSG_DONTWAIT);
        if (got > 0) answer.append(some.data(), static_cast<size_t>(got));
        open = got < 0 ? errno == EAGAIN : got != 0;
    }
    return answer;
}
std::string answer_of(event_loop& loop, const socket_address& address) {
    return answer_of(loop, ask(address));
}

TEST(metrics_server, makes_a_text_that_takes_long_once_for_requests_that_follow_one_another) {
    const std::unique_ptr<event_loop> loop = event_loop::start().value();
    const socket_address address =
        parse_socket_address("unix:@halcyon-metrics-test-" + std::to_string(::getpid())).value();
    daemon_counts counted;
    constexpr int64_t second_ns = 1'000'000'000;
    int made = 0;
    int64_t made_ns = -second_ns;
    const auto server = metrics_server::open(*loop, address, 0600, counted, [&] {
        EXPECT_GE(monotonic_ns() - made_ns, second_ns) << "it would still do";
        take_processor_time(0.1);
        made_ns = monotonic_ns();
        return "made " + std::to_string(++made);
    });
    ASSERT_TRUE(server.ok());
    for (int i = 0; i < 5; ++i) {
        const std::string answer = answer_of(*loop, address);
        EXPECT_TRUE(answer.ends_with("made " + std::to_string(made))) << answer;
    }
}

TEST(metrics_server, answers_though_many_are_connected_that_ask_nothing) {
    const std::unique_ptr<event_loop> loop = event_loop::start().value();
    const socket_address address =
        parse_socket_address("unix:@halcyon-idle-metrics-test-" + std::to_string(::getpid())).value();
    daemon_counts counted;
    const auto server = metrics_server::open(*loop, address, 0600, counted, [] { return std::string("text"); });
    ASSERT_TRUE(server.ok());
    std::vector<descriptor> idle;
    for (int i = 0; i < 40; ++i) idle.push_back(connect_stream(address, 5s).value());
    while (counted.refused_metrics < 40 - 16) ASSERT_TRUE(loop->run_once(10'000'000).ok());
    const std::string answer = answer_of(*loop, address);
    EXPECT_TRUE(answer.ends_with("text")) << answer;
}

TEST(metrics_server, answers_all_that_have_asked_before_they_were_accepted) {
    const std::unique_ptr<event_loop> loop = event_loop::start().value();
    const socket_address address =
        parse_socket_address("unix:@halcyon-many-metrics-test-" + std::to_string(::getpid())).value();
    daemon_counts counted;
    const auto server = metrics_server::open(*loop, address, 0600, counted, [] { return std::string("text"); });
    ASSERT_TRUE(server.ok());
    std::vector<descriptor> asking;
    for (int i = 0; i < 40; ++i) asking.push_back(ask(address));
    for (const descriptor& one : asking) EXPECT_TRUE(answer_of(*loop, one).ends_with("text"));
    EXPECT_EQ(counted.refused_metrics, 0U);
}

}  // namespace
}  // namespace halcyon::coordinate
