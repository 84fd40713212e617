// When an agent asks a coordinator again that has refused it, and when it leaves one that is silent.
#include "coordinate/agent/coordinator_link.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <string>

#include "base/clock.hpp"
#include "base/line_socket/listening_socket.hpp"
#include "coordinate/protocol/json.hpp"

namespace halcyon::coordinate {
namespace {

constexpr int64_t second_ns = 1'000'000'000;
constexpr int limit_ms = 60'000;

/// A link, and a daemon of the test's that accepts and refuses.
class refused_links : public testing::Test {
  protected:
    refused_links() {
        link_ = coordinator_link::start(*loop_, name_, {}, "A",
                                        {[this] { connected_ = true; },
                                         [this](const from_coordinator& message, int64_t) {
                                             refusals_ += std::holds_alternative<refused>(message) ? 1 : 0;
                                         },
                                         [this] { connected_ = false; }})
                    .value();
    }

    [[nodiscard]] bool somebody_asks(int within_ms) const {
        pollfd one{listener_.fd(), POLLIN, 0};
        return ::poll(&one, 1, within_ms) == 1;
    }
    template <class Condition>
    void run_until(Condition holds) {
        const int64_t until = monotonic_ns() + limit_ms * 1'000'000LL;
        while (!holds() && monotonic_ns() < until) ASSERT_TRUE(loop_->run_once(second_ns / 100));
        ASSERT_TRUE(holds());
    }
    /// The one that asks gets this answer, and its agent closes the connection.
    void refuse(double again_s) {
        ASSERT_TRUE(somebody_asks(limit_ms));
        const descriptor peer = std::move(listener_.accept().value().socket);
        run_until([&] { return connected_; });
        const std::string line = std::get<std::string>(encode(from_coordinator(refused{"no", again_s}))) + "\n";
        ASSERT_EQ(::write(peer.get(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
        run_until([&, before = refusals_] { return refusals_ > before; });
        link_->close();
    }
    /// As if so much time had passed since now.
    void care(double later_s) { link_->care(monotonic_ns() + static_cast<int64_t>(later_s * 1e9)); }
    [[nodiscard]] bool asks_at(int64_t now_ns) {
        link_->care(now_ns);
        return somebody_asks(moment_ms);
    }

    std::string name_ = "unix:@halcyon-link-test-" + std::to_string(::getpid());
    listening_socket listener_ = listening_socket::open(parse_socket_address(name_).value(), {}).value();
    std::unique_ptr<event_loop> loop_ = event_loop::start().value();
    std::unique_ptr<coordinator_link> link_;
    bool connected_ = false;
    int refusals_ = 0;
    static constexpr int moment_ms = 50;  // in which somebody would have asked
};

/// A link to one of two daemons: that of the test, since the other one does not listen.
class links_to_elected_daemons : public refused_links {
  protected:
    links_to_elected_daemons() {
        link_ = coordinator_link::start(*loop_, name_ + "," + name_ + "-none", {}, "A",
                                        {[this] { connected_ = true; }, [](const from_coordinator&, int64_t) {},
                                         [this] { connected_ = false; }})
                    .value();
        care(0);
        EXPECT_TRUE(somebody_asks(limit_ms));
        peer_ = std::move(listener_.accept().value().socket);
    }
    void say(std::string_view text) {
        ASSERT_EQ(::write(peer_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    [[nodiscard]] bool is_left_at(int64_t now_ns) {
        link_->care(now_ns);
        return !connected_;
    }
    static constexpr auto silence_ns = static_cast<int64_t>(lease_silence_s * second_ns);

    descriptor peer_;
};

TEST_F(links_to_elected_daemons, do_not_take_a_part_of_a_line_for_a_word_of_the_coordinator) {
    run_until([&] { return connected_; });
    const int64_t silent_since_ns = monotonic_ns();
    for (const char* const part : {"{\"type\"", ": \"heart"}) {
        if (!connected_) break;  // this test lost its core for so long that it is left already
        say(part);
        ASSERT_TRUE(loop_->run_once(second_ns));
    }
    EXPECT_TRUE(is_left_at(silent_since_ns + silence_ns + 1));
}

TEST_F(refused_links, tell_why_nobody_could_be_reached) {
    std::string why;
    const auto link = coordinator_link::start(*loop_, name_ + "-none", {}, "A",
                                              {.connected = [] {},
                                               .received = [](const from_coordinator&, int64_t) {},
                                               .disconnected = [] {},
                                               .failed = [&why](const std::string& told) { why = told; }})
                          .value();
    link->care(monotonic_ns());
    run_until([&] { return !why.empty(); });
    EXPECT_NE(why.find(name_ + "-none"), std::string::npos) << why;
}

/// A link to the only daemon, by a clock of the test's.
class links_to_one_daemon : public refused_links {
  protected:
    links_to_one_daemon() {
        link_ = coordinator_link::start(*loop_, name_, {}, "A",
                                        {.connected = [this] { connected_ = true; },
                                         .received =
                                             [this](const from_coordinator&, int64_t) {
                                                 ++words_;
                                                 is_late_ = false;
                                             },
                                         .disconnected = [this] { connected_ = false; },
                                         .late = [this] { is_late_ = true; },
                                         .clock_ns = [this] { return now_ns_; }})
                    .value();
        link_->care(now_ns_);
        EXPECT_TRUE(somebody_asks(limit_ms));
        peer_ = std::move(listener_.accept().value().socket);
    }
    /// So many words, which come behind a silence.
    void hear(int many, double silence_s) {
        const std::string word = std::get<std::string>(encode(from_coordinator(heartbeat{}))) + "\n";
        std::string text;
        for (int i = 0; i < many; ++i) text += word;
        ASSERT_EQ(::write(peer_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
        now_ns_ += static_cast<int64_t>(silence_s * second_ns);
        run_until([&, before = words_] { return words_ == before + many; });
    }

    descriptor peer_;
    int64_t now_ns_ = monotonic_ns();
    int words_ = 0;
    bool is_late_ = false;  ///< of the last word
};

/// This process may not have been run, and the daemon may have given the turn to others since.
TEST_F(links_to_one_daemon, say_of_words_behind_a_silence_that_they_may_be_old) {
    run_until([&] { return connected_; });
    hear(1, lease_silence_s - 0.1);
    EXPECT_FALSE(is_late_);
    hear(2, lease_silence_s + 0.1);
    EXPECT_TRUE(is_late_);
    hear(1, 0);
    EXPECT_FALSE(is_late_);
    EXPECT_TRUE(connected_);
}

TEST_F(links_to_one_daemon, say_so_of_all_that_lay_in_the_socket) {
    run_until([&] { return connected_; });
    hear(4000, lease_silence_s + 0.1);  // more than one receive takes
    EXPECT_TRUE(is_late_);
    hear(1, 0);
    EXPECT_FALSE(is_late_);
}

TEST_F(refused_links, ask_again_after_the_time_that_is_named_and_twice_as_long_after_the_next) {
    care(0);
    for (const double waits_s : {10, 20, 40, 80, 160, 300}) {  // no longer than five minutes
        const int64_t before_ns = monotonic_ns();
        refuse(10);
        EXPECT_FALSE(asks_at(before_ns + static_cast<int64_t>((waits_s - 1) * second_ns))) << waits_s;
        care(waits_s * (1 + refused_pause::most_spread) + 1);
    }
    refuse(10);
}

TEST_F(refused_links, ask_a_daemon_that_stands_by_again_with_the_next_round) {
    care(0);
    for (int i = 0; i < 4; ++i) {
        refuse(0);
        care(1 + i);
    }
    EXPECT_TRUE(somebody_asks(limit_ms));
}

}  // namespace
}  // namespace halcyon::coordinate
