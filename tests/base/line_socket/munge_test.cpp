#include "base/munge.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/line_socket/munged_process.hpp"

namespace halcyon {
namespace {

using namespace std::string_literals;

class munged : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!daemon_.is_ready()) GTEST_SKIP() << "munged does not run here";
    }
    tests::munged_process daemon_{1};
};

TEST_F(munged, tells_whose_a_credential_is_and_what_it_holds) {
    const munge authority = munge::load(daemon_.socket()).value();
    const std::string payload = "a\0b\n\xff"s;
    const auto credential = authority.encode(payload);
    ASSERT_TRUE(credential.ok()) << credential.why().message;
    EXPECT_EQ(credential->find('\n'), std::string::npos) << "it is one line";
    const auto who = authority.decode(*credential);
    ASSERT_TRUE(who.ok()) << who.why().message;
    EXPECT_EQ(who->uid, ::geteuid());
    EXPECT_EQ(who->gid, ::getegid());
    EXPECT_EQ(who->payload, payload);
    const auto again = authority.decode(*credential);
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.why().kind, error_kind::usage);
    EXPECT_EQ(again.why().message, "MUNGE refuses the credential: Replayed credential");
}

TEST_F(munged, refuses_a_credential_of_another_key) {
    tests::munged_process other(2);
    ASSERT_TRUE(other.is_ready());
    const auto credential = munge::load(other.socket()).value().encode("x");
    ASSERT_TRUE(credential.ok());
    const auto who = munge::load(daemon_.socket()).value().decode(*credential);
    ASSERT_FALSE(who.ok());
    EXPECT_EQ(who.why().kind, error_kind::usage);
    EXPECT_EQ(who.why().message, "MUNGE refuses the credential: Invalid credential");
}

TEST_F(munged, refuses_what_is_no_credential) {
    const munge authority = munge::load(daemon_.socket()).value();
    for (const std::string& text : {""s, "MUNGE:"s, "MUNGE:AAAA:"s, "{\"type\":\"register\"}"s, "\0\xff"s}) {
        const auto who = authority.decode(text);
        ASSERT_FALSE(who.ok()) << text;
        EXPECT_EQ(who.why().kind, error_kind::usage) << who.why().message;
    }
}

TEST_F(munged, that_is_gone_is_unavailable) {
    const munge authority = munge::load(daemon_.socket()).value();
    daemon_.kill();
    for (const char* its_socket : {"is left", "is gone, too"}) {
        SCOPED_TRACE(its_socket);
        const auto credential = authority.encode("x");
        ASSERT_FALSE(credential.ok());
        EXPECT_EQ(credential.why().kind, error_kind::unavailable);
        EXPECT_NE(credential.why().message.find(daemon_.socket()), std::string::npos) << credential.why().message;
        std::filesystem::remove(daemon_.socket());
    }
}

}  // namespace
}  // namespace halcyon
