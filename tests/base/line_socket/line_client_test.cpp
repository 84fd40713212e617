#include "base/line_socket/line_client.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <csignal>
#include <string>
#include <thread>

#include "base/line_socket/child_process.hpp"
#include "base/line_socket/listening_socket.hpp"
#include "base/line_socket/waiting.hpp"
#include "temporary_folder.hpp"

namespace halcyon {
namespace {

using namespace std::chrono_literals;

/// A client that is connected to a listener of this process.
class line_clients : public ::testing::Test {
  protected:
    void SetUp() override {
        auto listening = listening_socket::open(address_, {});
        ASSERT_TRUE(listening.ok()) << listening.why().message;
        listening_ = std::move(*listening);
    }
    void connect(line_client::options o = {}) {
        auto client = line_client::connect(address_, o);
        ASSERT_TRUE(client.ok()) << client.why().message;
        client_ = std::move(*client);
        auto accepted = tests::accept_one(*listening_);
        ASSERT_TRUE(accepted.ok()) << accepted.why().message;
        server_.emplace(std::move(accepted->socket));
    }
    line_client& client() { return *client_; }
    line_connection& server() { return *server_; }
    void close_server() { server_.reset(); }
    void close_listener() { listening_.reset(); }
    [[nodiscard]] const socket_address& address() const { return address_; }

  private:
    tests::temporary_folder folder_;
    socket_address address_ = parse_socket_address("unix:" + folder_.file("s")).value();
    std::optional<listening_socket> listening_;
    std::optional<line_client> client_;
    std::optional<line_connection> server_;
};

TEST_F(line_clients, lines_go_both_ways) {
    connect();
    EXPECT_EQ(client().server()->pid, ::getpid());
    ASSERT_TRUE(client().send("one", 5s).ok());
    ASSERT_TRUE(client().send("two", 5s).ok());
    std::string got;
    ASSERT_TRUE(tests::wait_for(server().fd(), POLLIN));
    ASSERT_TRUE(server()
                    .read_lines([&](std::string_view line) {
                        got += std::string(line) + ";";
                        return server().send(line).ok();
                    })
                    .ok());
    EXPECT_EQ(got, "one;two;");
    EXPECT_EQ(*client().receive(5s), "one");
    EXPECT_EQ(*client().receive(5s), "two");
}

TEST_F(line_clients, silence_is_a_failure_after_its_time_and_the_next_line_still_comes) {
    connect();
    const auto got = client().receive(10ms);
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.why().kind, error_kind::unavailable);
    EXPECT_EQ(got.why().system_errno, ETIMEDOUT);
    EXPECT_EQ(got.why().message, address().text() + ": the server did not answer in time");
    ASSERT_TRUE(server().send("late").ok());
    EXPECT_EQ(*client().receive(5s), "late");
    EXPECT_EQ(client().receive(0s).why().system_errno, ETIMEDOUT);
}

TEST_F(line_clients, what_the_server_sent_before_it_closed_is_read_first) {
    connect();
    ASSERT_TRUE(server().send("last").ok());
    close_server();
    EXPECT_EQ(*client().receive(5s), "last");
    const auto got = client().receive(5s);
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.why().kind, error_kind::unavailable);
    EXPECT_EQ(got.why().message, address().text() + ": the server closed the connection");
}

TEST_F(line_clients, a_line_that_is_too_long_is_a_failure) {
    connect({.bounds = {.most_line_bytes = 100}});
    ASSERT_TRUE(server().send(std::string(100, 'x')).ok());
    ASSERT_TRUE(server().send(std::string(101, 'x')).ok());
    EXPECT_EQ(client().receive(5s)->size(), 100U);
    EXPECT_EQ(client().receive(5s).why().system_errno, EMSGSIZE);
}

TEST_F(line_clients, sending_to_a_server_that_does_not_read_ends_after_its_time) {
    connect();
    const std::string line(100'000, 'x');
    result<void> sent;
    for (int i = 0; sent && i < 1000; ++i) sent = client().send(line, 10ms);
    ASSERT_FALSE(sent.ok());
    EXPECT_EQ(sent.why().system_errno, ETIMEDOUT);
}

TEST_F(line_clients, more_than_the_buffers_hold_passes_while_the_server_reads) {
    connect({.bounds = {.most_output_bytes = 200'000}});
    constexpr int lines = 100;
    std::jthread reader([&] {
        int got = 0;
        while (got < lines && tests::wait_for(server().fd(), POLLIN)) {
            const auto read = server().read_lines([&](std::string_view line) {
                got += line.size() == 50'000 ? 1 : 0;
                return true;
            });
            if (!read) break;
        }
        static_cast<void>(server().send(std::to_string(got)));
    });
    for (int i = 0; i < lines; ++i) ASSERT_TRUE(client().send(std::string(50'000, 'x'), 20s).ok());
    EXPECT_EQ(*client().receive(20s), std::to_string(lines));
}

TEST_F(line_clients, a_released_connection_keeps_the_lines_that_have_come) {
    connect();
    ASSERT_TRUE(server().send("first").ok());
    ASSERT_TRUE(server().send("second").ok());
    EXPECT_EQ(*client().receive(5s), "first");
    line_connection released = std::move(client()).release();
    std::string got;
    ASSERT_TRUE(released
                    .read_lines([&](std::string_view line) {
                        got = line;
                        return true;
                    })
                    .ok());
    EXPECT_EQ(got, "second");
}

TEST_F(line_clients, where_nobody_listens_the_server_is_unavailable) {
    close_listener();
    const auto client = line_client::connect(address(), {});
    ASSERT_FALSE(client.ok());
    EXPECT_EQ(client.why().kind, error_kind::unavailable);
    EXPECT_EQ(client.why().message, address().text() + ": nobody could be reached: No such file or directory");
    const auto tcp = line_client::connect(parse_socket_address("tcp:127.0.0.1:1").value(), {});
    ASSERT_FALSE(tcp.ok());
    EXPECT_EQ(tcp.why().kind, error_kind::unavailable);
    EXPECT_EQ(tcp.why().message, "tcp:127.0.0.1:1: nobody could be reached: Connection refused");
    EXPECT_EQ(line_client::connect(parse_socket_address("tcp:127.0.0.1:0").value(), {}).why().kind, error_kind::usage);
}

TEST_F(line_clients, a_server_that_never_accepts_is_unavailable_after_its_time) {
    std::vector<line_client> waiting;
    result<void> last;
    // Its queue takes some.
    for (int i = 0; last && i < 100'000; ++i) {
        auto client = line_client::connect(address(), {.timeout = 10ms});
        if (client)
            waiting.push_back(std::move(*client));
        else
            last = client.why();
    }
    ASSERT_FALSE(last.ok());
    EXPECT_EQ(last.why().kind, error_kind::unavailable);
    EXPECT_EQ(last.why().system_errno, ETIMEDOUT);
}

/// Signals interrupt the waits; the third has the server answer.
volatile sig_atomic_t alarms = 0;
int answer_on = -1;

void on_alarm(int) {
    alarms = alarms + 1;
    if (alarms == 3) static_cast<void>(!::write(answer_on, "answer\n", 7));
}

TEST_F(line_clients, signals_do_not_end_a_wait) {
    connect();
    answer_on = server().fd();
    struct sigaction handle {
    }, before{};
    handle.sa_handler = on_alarm;
    ASSERT_EQ(::sigaction(SIGALRM, &handle, &before), 0);
    const itimerval often{{0, 2000}, {0, 2000}}, never{};
    ASSERT_EQ(::setitimer(ITIMER_REAL, &often, nullptr), 0);
    const auto got = client().receive(20s);
    ASSERT_EQ(::setitimer(ITIMER_REAL, &never, nullptr), 0);
    ASSERT_EQ(::sigaction(SIGALRM, &before, nullptr), 0);
    ASSERT_TRUE(got.ok()) << got.why().message;
    EXPECT_EQ(*got, "answer");
}

}  // namespace
}  // namespace halcyon
