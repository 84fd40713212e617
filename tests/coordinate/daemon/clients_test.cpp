// Who is read and heard when many have something to say.
#include "coordinate/daemon/clients.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "base/clock.hpp"

namespace halcyon::coordinate {
namespace {

/// Takes some time for each line.
class slow_handler : public client_handler {
  public:
    bool came(connection_id id, const peer_identity& who) override {
        user_of[id] = who.uid;
        return false;
    }
    void said(connection_id id, std::string_view line) override {
        heard[user_of.at(id)].push_back(id);
        lines.emplace_back(line);
        const int64_t until_ns = monotonic_ns() + 1'000'000;
        while (monotonic_ns() < until_ns) {
        }
    }
    void waits(connection_id id) override { told_to_wait.insert(id); }
    void said_too_much(connection_id) override {}
    void went(connection_id) override {}

    std::map<connection_id, uid_t> user_of;
    std::map<uid_t, std::vector<connection_id>> heard;
    std::vector<std::string> lines;
    std::set<connection_id> told_to_wait;
};

class many_clients : public testing::Test {
  protected:
    static constexpr uid_t flood = 3000, other = 3001;

    /// Its peer has said a line.
    void add(uid_t user) {
        int ends[2];
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        peers_.emplace_back(ends[1]);
        all.add({descriptor(ends[0]), peer_identity{user, user, 0, peer_identity::witness::kernel}, {}});
        ASSERT_EQ(::write(ends[1], "line\n", 5), 5);
    }

    slow_handler handler;
    daemon_counts counted;
    std::unique_ptr<event_loop> loop = event_loop::start().value();
    clients all{*loop, handler, counted};

  private:
    std::vector<descriptor> peers_;
};

TEST_F(many_clients, of_one_user_delay_each_other_and_nobody_else) {
    for (int i = 0; i < 300; ++i) add(flood);
    add(other);
    size_t first = 0;
    // One pass, where the test does not lose its core: a pass reads for 20 ms.
    for (size_t passes = 1; handler.heard[other].empty(); ++passes) {
        ASSERT_LE(passes, 10U) << "they delay others";
        ASSERT_TRUE(all.read_all(0).ok());
        if (passes == 1) first = handler.heard[flood].size();
        EXPECT_LE(handler.heard[flood].size(), 6 * passes);
    }
    EXPECT_EQ(handler.heard[other].size(), 1U);
    EXPECT_GE(first, 1U);
    EXPECT_EQ(handler.told_to_wait.size(), 300 - first);
    for (int pass = 0; pass < 300; ++pass) ASSERT_TRUE(all.read_all(0).ok());
    EXPECT_EQ(handler.heard[flood].size(), 300U);
    EXPECT_TRUE(std::ranges::is_sorted(handler.heard[flood])) << "first come, first served";
}

/// Lines that one connection receives at once, and more of them than there is time for in one pass.
TEST_F(many_clients, whose_lines_take_long_delay_nobody_else_and_are_all_heard_in_their_order) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    descriptor peer(ends[1]);
    all.add({descriptor(ends[0]), peer_identity{flood, flood, 0, peer_identity::witness::kernel}, {}});
    std::vector<std::string> said;
    std::string text;
    for (int i = 0; i < 300; ++i) text += said.emplace_back(std::to_string(i)) + "\n";
    ASSERT_EQ(::write(peer.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    add(other);
    for (size_t passes = 1; handler.heard[other].empty(); ++passes) {
        ASSERT_LE(passes, 10U) << "they delay others";
        ASSERT_TRUE(all.read_all(0).ok());
        ASSERT_LE(handler.heard[flood].size(), 6 * passes);
    }
    std::erase(handler.lines, "line");  // of the other one
    const int64_t limit_ns = monotonic_ns() + 30'000'000'000;
    while (all.count() == 2) {
        ASSERT_TRUE(all.read_all(60'000'000'000).ok());
        ASSERT_LT(monotonic_ns(), limit_ns) << "it rests, though lines are there that were received";
        if (handler.lines.size() > 100) peer.reset();
    }
    EXPECT_EQ(all.count(), 1U) << "it has closed its connection, and is gone";
    EXPECT_EQ(handler.lines, said);
}

TEST_F(many_clients, that_are_being_checked_when_the_configuration_is_read_again_are_let_in) {
    ASSERT_TRUE(all.start_checks({}).ok());
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const descriptor peer(ends[1]);
    all.add({descriptor(ends[0]), {}, tcp_challenge{"halcyon 1 insecure", ""}});
    ASSERT_EQ(::write(peer.get(), "claim 3000 3000 1\n", 18), 18);
    ASSERT_TRUE(loop->run_once(0).ok());  // asked; the answer is for the next round
    ASSERT_TRUE(all.start_checks({}).ok());
    const int64_t limit_ns = monotonic_ns() + 20'000'000'000;
    while (handler.user_of.empty() && monotonic_ns() < limit_ns) ASSERT_TRUE(all.read_all(10'000'000).ok());
    EXPECT_EQ(handler.user_of.size(), 1U);
}

/// What the daemon says at first to a connection of the same address as all others.
class strangers {
  public:
    explicit strangers(clients& all) : all_(all) {}
    std::string first_line() {
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        peers_.emplace_back(ends[1]);
        all_.add({descriptor(ends[0]), {}, tcp_challenge{"challenge", ""}});
        std::array<char, 256> some;
        const ssize_t got = ::recv(ends[1], some.data(), some.size(), MSG_DONTWAIT);
        return {some.data(), static_cast<size_t>(std::max<ssize_t>(got, 0))};
    }
    [[nodiscard]] bool is_closed(size_t which) const {
        std::array<char, 256> some;
        ssize_t got = 0;
        do got = ::recv(peers_[which].get(), some.data(), some.size(), MSG_DONTWAIT);
        while (got > 0);
        return got == 0;
    }

  private:
    clients& all_;
    std::vector<descriptor> peers_;
};

TEST_F(many_clients, that_never_prove_who_they_are_make_room_for_others) {
    strangers from(all);
    for (uint32_t i = 0; i < unproven::most_of_address; ++i) ASSERT_EQ(from.first_line(), "challenge\n");
    const int64_t limit_ns = monotonic_ns() + 20'000'000'000;
    std::string answer;
    // Until the first one has had time enough.
    while ((answer = from.first_line()) != "challenge\n" && monotonic_ns() < limit_ns) {
        ASSERT_TRUE(answer.starts_with("refused: ")) << answer;
        ASSERT_TRUE(all.read_all(10'000'000).ok());
    }
    EXPECT_EQ(answer, "challenge\n");
    EXPECT_TRUE(from.is_closed(0)) << "the oldest";
    EXPECT_FALSE(from.is_closed(unproven::most_of_address - 1));
}

}  // namespace
}  // namespace halcyon::coordinate
