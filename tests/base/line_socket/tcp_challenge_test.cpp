#include "base/line_socket/tcp_challenge.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "base/line_socket/line_client.hpp"
#include "base/line_socket/listening_socket.hpp"
#include "base/line_socket/munged_process.hpp"
#include "base/line_socket/peer_check.hpp"
#include "base/line_socket/socket_connect.hpp"
#include "base/line_socket/waiting.hpp"

namespace halcyon {
namespace {

using namespace std::chrono_literals;
using tests::child_process;

const socket_address any_port = parse_socket_address("tcp:127.0.0.1:0").value();

/// The server's part of one greeting, up to its answer.
result<peer_identity> greet(listening_socket& listening, peer_check& checks) {
    auto accepted = tests::accept_one(listening);
    if (!accepted) return accepted.why();
    line_connection connection(std::move(accepted->socket));
    if (auto sent = connection.send(accepted->challenge->line); !sent) return sent.why();
    std::string answer;
    while (answer.empty()) {
        if (!tests::wait_for(connection.fd(), POLLIN)) return failure{error_kind::unavailable, "no answer", 0};
        auto got = connection.read_lines([&](std::string_view line) {
            answer = line;
            return false;
        });
        if (!got) return got.why();
        if (*got == line_connection::input::ended) return failure{error_kind::unavailable, "closed", 0};
    }
    if (!checks.ask(7, *accepted->challenge, answer)) return failure{error_kind::internal, "not asked", 0};
    if (!tests::wait_for(checks.fd(), POLLIN)) return failure{error_kind::unavailable, "no verdict", 0};
    auto verdicts = checks.collect();
    if (verdicts.size() != 1 || verdicts[0].connection != 7) return failure{error_kind::internal, "which?", 0};
    auto& who = verdicts[0].peer;
    if (auto sent = connection.send(who ? std::string(welcome_line) : refusal_line(who.why())); !sent)
        return sent.why();
    return std::move(who);
}

class tcp_peers : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!daemon_.is_ready()) GTEST_SKIP() << "munged does not run here";
        auto listening = listening_socket::open(any_port, {.munge_socket = daemon_.socket()});
        ASSERT_TRUE(listening.ok()) << listening.why().message;
        EXPECT_EQ(listening->warning(), "");
        listening_ = std::move(*listening);
        checks_ = peer_check::start(listening_->authority(), 16).value();
    }
    /// Both ends of a connection, and the challenge that the server's end makes.
    struct connected {
        descriptor client, server;
        tcp_challenge challenge;
    };
    connected connect() {
        connected c;
        c.client = connect_stream(listening_->address(), 5s).value();
        auto accepted = tests::accept_one(*listening_).value();
        c.server = std::move(accepted.socket);
        c.challenge = std::move(*accepted.challenge);
        return c;
    }
    std::string answer(int socket, const std::string& challenge) const {
        return answer_challenge(socket, challenge, daemon_.socket()).value();
    }
    result<peer_identity> check(const tcp_challenge& challenge, std::string_view answer) const {
        return check_answer(challenge, answer, &*listening_->authority());
    }
    /// Its message, of an answer that must be refused.
    std::string refusal(const tcp_challenge& challenge, std::string_view answer) const {
        const auto who = check(challenge, answer);
        return who ? "accepted" : who.why().message;
    }

    tests::munged_process daemon_{3};
    std::optional<listening_socket> listening_;
    std::unique_ptr<peer_check> checks_;
};

TEST_F(tcp_peers, munge_tells_who_connects) {
    child_process client([&] {
        const auto c = line_client::connect(listening_->address(), {.munge_socket = daemon_.socket()});
        return c ? 0 : 1;
    });
    const auto who = greet(*listening_, *checks_);
    ASSERT_TRUE(who.ok()) << who.why().message;
    EXPECT_EQ(*who, (peer_identity{::geteuid(), ::getegid(), 0, peer_identity::witness::munge}));
    EXPECT_EQ(client.exit_status(), 0);
}

TEST_F(tcp_peers, munge_tells_of_another_user) {
    if (!tests::may_become_another_user()) GTEST_SKIP() << "this process may not become another user";
    child_process client([&] {
        if (!tests::become_nobody()) return 9;
        return line_client::connect(listening_->address(), {.munge_socket = daemon_.socket()}) ? 0 : 1;
    });
    const auto who = greet(*listening_, *checks_);
    ASSERT_TRUE(who.ok()) << who.why().message;
    EXPECT_EQ(who->uid, tests::nobody);
    EXPECT_EQ(client.exit_status(), 0);
}

TEST_F(tcp_peers, a_credential_of_another_connection_is_refused) {
    const connected first = connect(), second = connect();
    EXPECT_NE(first.challenge.line, second.challenge.line);
    const std::string overheard = answer(first.client.get(), first.challenge.line);
    EXPECT_EQ(refusal(second.challenge, overheard),
              "the credential is for another connection (are addresses translated between the two ends?)");
}

TEST_F(tcp_peers, a_server_that_passes_on_the_challenge_of_another_gets_nothing_of_use) {
    auto liar = listening_socket::open(any_port, {.insecure = true});
    ASSERT_TRUE(liar.ok());
    const descriptor victim = connect_stream(liar->address(), 5s).value();
    const connected relay = connect();
    const std::string credential = answer(victim.get(), relay.challenge.line);
    EXPECT_EQ(refusal(relay.challenge, credential),
              "the credential is for another connection (are addresses translated between the two ends?)");
}

TEST_F(tcp_peers, wrong_answers_are_refused) {
    const connected c = connect();
    EXPECT_TRUE(refusal(c.challenge, "").starts_with("MUNGE refuses the credential: "));
    EXPECT_TRUE(refusal(c.challenge, "{\"type\":\"register\"}").starts_with("MUNGE refuses the credential: "));
    EXPECT_TRUE(refusal(c.challenge, "claim 0 0 1").starts_with("MUNGE refuses the credential: "))
        << "claims are for insecure listeners";
    const auto foreign = munge::load(daemon_.socket()).value().encode("for something else");
    EXPECT_TRUE(refusal(c.challenge, *foreign).starts_with("the credential is for another connection"));
    EXPECT_TRUE(check(c.challenge, answer(c.client.get(), c.challenge.line)).ok());
}

TEST_F(tcp_peers, a_refused_client_hears_the_reason) {
    tests::munged_process other(4);
    ASSERT_TRUE(other.is_ready());
    std::string heard;
    std::jthread client([&] {
        const auto c = line_client::connect(listening_->address(), {.munge_socket = other.socket()});
        heard = c ? "welcome" : c.why().message;
    });
    EXPECT_FALSE(greet(*listening_, *checks_).ok());
    client.join();
    EXPECT_EQ(heard, listening_->address().text() +
                         ": the server answers: refused: MUNGE refuses the credential: Invalid credential");
}

TEST_F(tcp_peers, a_client_whose_server_has_no_munge_at_the_moment_is_not_refused_for_good) {
    auto checks = peer_check::start(munge::load("/nonexistent/socket").value(), 16).value();
    failure heard;
    std::jthread client([&] {
        const auto c = line_client::connect(listening_->address(), {.munge_socket = daemon_.socket()});
        if (!c) heard = c.why();
    });
    EXPECT_FALSE(greet(*listening_, *checks).ok());
    client.join();
    EXPECT_EQ(heard.kind, error_kind::unavailable);
    EXPECT_TRUE(heard.message.ends_with("; try again")) << heard.message;
}

TEST_F(tcp_peers, a_client_without_munge_says_so) {
    std::string heard;
    std::jthread client([&] {
        const auto c = line_client::connect(listening_->address(), {.munge_socket = "/nonexistent/socket"});
        heard = c ? "welcome" : c.why().message;
    });
    EXPECT_FALSE(greet(*listening_, *checks_).ok());
    client.join();
    EXPECT_TRUE(heard.starts_with(listening_->address().text() + ": MUNGE gave no credential: ")) << heard;
}

TEST_F(tcp_peers, that_are_too_many_to_check_are_not_taken) {
    auto checks = peer_check::start(listening_->authority(), 0).value();
    EXPECT_FALSE(checks->ask(1, {}, ""));
}

TEST_F(tcp_peers, a_silent_server_is_unavailable_after_its_time) {
    const auto c = line_client::connect(listening_->address(), {.timeout = 20ms, .munge_socket = daemon_.socket()});
    ASSERT_FALSE(c.ok());
    EXPECT_EQ(c.why().kind, error_kind::unavailable);
    EXPECT_EQ(c.why().system_errno, ETIMEDOUT);
}

TEST(tcp_listener, without_munge_does_not_start) {
    const auto listening = listening_socket::open(any_port, {.munge_socket = "/nonexistent/socket"});
    ASSERT_FALSE(listening.ok());
    EXPECT_EQ(listening.why().kind, error_kind::unavailable);
    EXPECT_TRUE(listening.why().message.starts_with("tcp:127.0.0.1:0: MUNGE")) << listening.why().message;
    EXPECT_TRUE(listening.why().message.ends_with(
        "; TCP peers are known by MUNGE: start munged, or set 'insecure' if everybody who can reach this address is "
        "trusted"))
        << listening.why().message;
}

TEST(tcp_listener, that_is_insecure_says_so_and_believes_claims) {
    auto listening = listening_socket::open(any_port, {.insecure = true});
    ASSERT_TRUE(listening.ok()) << listening.why().message;
    EXPECT_EQ(listening->warning(),
              listening->address().text() + " is insecure: each peer is believed to be the user that it claims to be");
    auto checks = peer_check::start(listening->authority(), 16).value();
    child_process client([&] { return line_client::connect(listening->address(), {}) ? 0 : 1; });
    const auto who = greet(*listening, *checks);
    ASSERT_TRUE(who.ok()) << who.why().message;
    EXPECT_EQ(*who, (peer_identity{::geteuid(), ::getegid(), client.pid(), peer_identity::witness::nobody}));
    EXPECT_EQ(client.exit_status(), 0);
    for (const char* wrong : {"", "claim", "claim 1 2", "claim 1 2 3 4", "claim -1 2 3", "claim 1 2 x",
                              "claim 99999999999 1 1", "{\"type\":\"register\"}"})
        EXPECT_FALSE(check_answer({"halcyon 1 insecure", {}}, wrong, nullptr).ok()) << wrong;
}

/// What the client makes of this second line.
failure answer_to_a_claim(const std::string& line, const line_client::options& how = {}) {
    auto listening = listening_socket::open(any_port, {.insecure = true}).value();
    failure heard;
    std::jthread client([&] {
        const auto c = line_client::connect(listening.address(), how);
        if (!c) heard = c.why();
    });
    line_connection server(std::move(tests::accept_one(listening).value().socket));
    EXPECT_TRUE(server.send("halcyon 1 insecure").ok());
    EXPECT_TRUE(server.send(line).ok());
    client.join();
    return heard;
}

TEST(tcp_client, leaves_a_server_that_believes_claims_where_it_expects_munge) {
    const failure left = answer_to_a_claim("welcome", {.may_be_insecure = false});
    EXPECT_EQ(left.kind, error_kind::usage);
    EXPECT_TRUE(
        left.message.ends_with("the server asks for no MUNGE, which is refused unless 'insecure' in "
                               "coordinators.yaml says so"))
        << left.message;
    EXPECT_EQ(answer_to_a_claim("welcome").message, "");
}

TEST(tcp_client, takes_a_refusal_of_the_moment_for_no_refusal_of_itself) {
    const failure busy = answer_to_a_claim("refused: too many connections are being checked; try again");
    EXPECT_EQ(busy.kind, error_kind::unavailable);
    EXPECT_TRUE(busy.message.ends_with("too many connections are being checked; try again")) << busy.message;
    EXPECT_EQ(answer_to_a_claim("refused: no").kind, error_kind::usage);
    EXPECT_EQ(answer_to_a_claim("hello; try again").kind, error_kind::usage);
}

TEST(tcp_client, refuses_a_server_that_is_no_line_socket) {
    for (const char* line : {"", "SSH-2.0-OpenSSH_9.2", "halcyon 2 munge 00", "halcyon 1 munge 00"}) {
        const auto answer = answer_challenge(-1, line, {});
        ASSERT_FALSE(answer.ok());
        EXPECT_EQ(answer.why().kind, error_kind::usage);
    }
}

TEST(tcp_challenge, a_refusal_is_one_line) {
    EXPECT_EQ(refusal_line("a\nb\r\nc"), "refused: a b  c");
}

}  // namespace
}  // namespace halcyon
