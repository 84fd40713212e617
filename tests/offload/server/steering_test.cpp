#include "offload/server/steering.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "base/unix_socket.hpp"
#include "offload/server/parts_of_a_server.hpp"

namespace halcyon::offload {
namespace {

constexpr const char* configuration =
    "halcyon: 1\nsimulation: t\n"
    "parameters: {nx: 4, kappa: {value: 0.5, min: 0.1, max: 2, steerable: true},\n"
    "  tau: {value: 1, min: -5, max: 5, steerable: true}}\n";

/// The user's end of a connection to the steering of a server.
class connected_user {
  public:
    explicit connected_user(steering& of) : steering_(of) {
        int both[2] = {-1, -1};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, both), 0);
        own_ = descriptor(both[0]);
        servers_ = descriptor(both[1]);
        peer_ = std::make_shared<const steering_peer>(steering_peer::of(servers_).value());
    }
    /// What the server answers.
    std::string say(const std::string& message) {
        steering_.take(peer_, message);
        return next();
    }
    /// What the server has said; "" where it has not.
    [[nodiscard]] std::string next() const {
        const auto m = receive_message(own_.get(), 1 << 16, 0);
        return m ? std::string(reinterpret_cast<const char*>(m->bytes.data()), m->bytes.size()) : "";
    }
    [[nodiscard]] const steering::peer& peer() const { return peer_; }

  private:
    steering& steering_;
    descriptor own_, servers_;
    steering::peer peer_;
};

class steering_test : public ::testing::Test {
  protected:
    static session_document of_node(int node) {
        session_document about;
        about.node = node;
        return about;
    }
    std::unique_ptr<steering> begin(int node = 0) {
        return std::make_unique<steering>(parts_.shared, parts_.data, of_node(node), parts_.clients, parts_.notes,
                                          [this](const std::string& line) { return parts_.say(line); });
    }
    /// As rank 0 tells it.
    static event_record effect(uint64_t request, uint32_t parameter, double value, int64_t iteration) {
        event_record e{};
        e.kind = event_kind::steered;
        e.index = parameter;
        e.iteration = iteration;
        e.sequence = request;
        e.value[0] = std::bit_cast<int64_t>(value);
        e.value[2] = 77;
        e.value[3] = 1000;
        return e;
    }
    [[nodiscard]] steering_mail mail() const { return parts_.shared.steering().mail.read()->value; }

    testing::parts_of_a_server parts_{configuration, 1};
};

TEST_F(steering_test, lists_parameters_with_values_and_bounds) {
    const auto s = begin();
    connected_user user(*s);
    const std::string list = R"({"parameters":[{"name":"kappa","value":0.5,"min":0.1,"max":2.0},)"
                             R"({"name":"tau","value":1.0,"min":-5.0,"max":5.0}]})";
    EXPECT_EQ(user.say(""), list);
    EXPECT_EQ(user.say("{}"), list);
    EXPECT_EQ(user.say(R"({"set": {"tau": 3}})"), R"({"accepted": 1})");
    EXPECT_NE(user.say("{}").find(R"("max":5.0,"asked":3.0})"), std::string::npos);
    // Rank 0 has taken it.
    steering_values now;
    now.taken = 1;
    now.values = {0.5, 3};
    parts_.shared.steering().values.write(now);
    EXPECT_NE(user.say("{}").find(R"("tau","value":3.0,"min":-5.0,"max":5.0})"), std::string::npos);
}

TEST_F(steering_test, what_is_asked_is_in_the_mailbox_with_who_asked) {
    const auto s = begin();
    connected_user user(*s);
    EXPECT_EQ(user.say(R"({"set": {"kappa": 0.25, "tau": -4}})"), R"({"accepted": 1})");
    EXPECT_EQ(user.say(R"({"set": {"kappa": 1}})"), R"({"accepted": 2})");
    EXPECT_EQ(mail().requests, 2U);
    EXPECT_EQ(mail().latest[0].number, 2U);
    EXPECT_EQ(mail().latest[0].value, 1);
    EXPECT_EQ(mail().latest[1].number, 1U);
    EXPECT_EQ(mail().latest[1].value, -4);
    EXPECT_EQ(mail().latest[0].process, ::getpid());
    EXPECT_EQ(mail().latest[0].user, ::geteuid());
}

TEST_F(steering_test, refuses_what_makes_no_sense_and_accepts_none_of_it) {
    const auto s = begin();
    connected_user user(*s);
    const auto expect_refused = [&](const std::string& message, const std::string& why) {
        const std::string answer = user.say(message);
        EXPECT_NE(answer.find(R"("error":"usage")"), std::string::npos) << answer;
        EXPECT_NE(answer.find(why), std::string::npos) << answer;
    };
    expect_refused(R"({"set": {"tau": 1, "kapa": 1}})", "no parameter 'kapa'; steerable parameters: kappa, tau");
    expect_refused(R"({"set": {"nx": 8}})", "parameter 'nx' is not steerable; steerable parameters: kappa, tau");
    expect_refused(R"({"set": {"tau": 1, "kappa": 3}})", "parameter 'kappa': 3 is too large; its max is 2");
    expect_refused(R"({"set": {"kappa": 0}})", "parameter 'kappa': 0 is too small; its min is 0.1");
    expect_refused(R"({"set": {"kappa": NaN}})", "parameter 'kappa': nan is not a finite number");
    expect_refused(R"({"set": {"kappa": -Infinity}})", "parameter 'kappa': -inf is not a finite number");
    expect_refused(R"({"set": {"kappa": "1"}})", "its value must be a number");
    expect_refused(R"({"set": {}})", "at least one name");
    expect_refused(R"({"set": 3})", "'set' must be an object");
    for (const std::string& garbage : {std::string("\x00\xff{", 3), std::string(8000, '['), std::string("[1]")})
        expect_refused(garbage, "a message must be a JSON object");
    EXPECT_EQ(mail().requests, 0U);
}

TEST_F(steering_test, only_the_server_of_node_0_is_steered_and_only_for_as_long_as_rank_0_is_there) {
    const auto other = begin(1);
    connected_user lost(*other);
    EXPECT_NE(lost.say("").find("this is the server of node 1; steering goes through that of node 0"),
              std::string::npos);
    const auto s = begin();
    connected_user user(*s);
    user.say("");
    parts_.clients.leave(0);
    EXPECT_NE(user.say(R"({"set": {"tau": 1}})").find(R"("error":"unavailable")"), std::string::npos);
}

TEST_F(steering_test, an_effect_is_told_logged_and_recorded) {
    const auto s = begin();
    connected_user user(*s), other(*s);
    user.say("");
    other.say("");
    user.say(R"({"set": {"tau": 0.1}})");
    EXPECT_TRUE(s->took_effect(0, effect(1, 2, 0.1, 42)));
    const std::string told = R"({"request": 1, "parameter": "tau", "value": 0.1, "iteration": 42})";
    EXPECT_EQ(user.next(), told);
    EXPECT_EQ(other.next(), told);
    const auto lines =
        parts_.log("parameter 'tau' is 0.1 from iteration 42 on: request 1, asked by process 77 of user 1000");
    EXPECT_EQ(lines.size(), 1U);
    s->forget(other.peer());
    EXPECT_TRUE(s->took_effect(0, effect(2, 1, 0.7, 43)));
    EXPECT_NE(user.next(), "");
    EXPECT_EQ(other.next(), "");
    static_cast<void>(parts_.notes.save_last(0));
    std::ifstream file(parts_.folder.path() / "steering-n0000.csv");
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_TRUE(text.str().starts_with(
        "request,parameter,value,iteration,asked_ns,user,process,host\n1,tau,0.10000000000000001,42,0,1000,77,"))
        << text.str();
    EXPECT_NE(text.str().find("\n2,kappa,0.69999999999999996,43,"), std::string::npos) << text.str();
}

TEST_F(steering_test, effects_that_cannot_be_are_not_believed) {
    const auto s = begin();
    EXPECT_FALSE(s->took_effect(0, effect(1, 0, 1, 1))) << "nx is not steerable";
    EXPECT_FALSE(s->took_effect(0, effect(1, 99, 1, 1)));
    EXPECT_FALSE(s->took_effect(1, effect(1, 1, 1, 1))) << "only rank 0 says so";
}

TEST_F(steering_test, a_server_that_takes_over_goes_on_with_the_mail_of_the_one_before) {
    {
        const auto killed = begin();
        connected_user user(*killed);
        user.say(R"({"set": {"kappa": 1.5}})");
    }
    const auto s = begin();
    connected_user user(*s);
    EXPECT_NE(user.say("").find(R"("asked":1.5)"), std::string::npos);
    EXPECT_EQ(user.say(R"({"set": {"tau": 2}})"), R"({"accepted": 2})");
    EXPECT_EQ(mail().latest[0].value, 1.5);
}

TEST_F(steering_test, what_never_took_effect_is_said_at_the_end) {
    const auto s = begin();
    connected_user user(*s);
    user.say(R"({"set": {"tau": 2}})");
    s->end();
    EXPECT_EQ(parts_.log("parameter 'tau' never became 2: the session ended before request 1 of process ").size(), 1U);
    EXPECT_EQ(parts_.log("parameter 'kappa'").size(), 0U);
}

TEST_F(steering_test, a_user_that_reads_nothing_is_left) {
    const auto s = begin();
    connected_user deaf(*s), user(*s);
    deaf.say("");
    user.say("");
    for (int i = 0; i < 100'000 && deaf.peer().use_count() > 1; ++i) {
        s->took_effect(0, effect(1, 1, 1, i));
        EXPECT_NE(user.next(), "");
    }
    EXPECT_EQ(deaf.peer().use_count(), 1) << "the server still keeps the connection";
}

}  // namespace
}  // namespace halcyon::offload
