#include "base/unix_socket.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

namespace {

using namespace halcyon;

std::string unused_name() {
    return "halcyon-test-" + std::to_string(::getpid()) + "-" + std::to_string(::random());
}

/// A client and a server that took its connection.
class connected_sockets : public ::testing::Test {
  protected:
    void SetUp() override {
        const std::string name = unused_name();
        auto listening = listen_abstract(name, 4);
        ASSERT_TRUE(listening.ok()) << listening.why().message;
        auto client = connect_abstract(name);
        ASSERT_TRUE(client.ok()) << client.why().message;
        auto server = accept_checked(listening->get());
        ASSERT_TRUE(server.ok()) << server.why().message;
        listening_ = std::move(*listening);
        client_ = std::move(*client);
        server_ = std::move(*server);
    }
    [[nodiscard]] int client() const { return client_.get(); }
    [[nodiscard]] int server() const { return server_.get(); }
    void client_leaves() { client_.reset(); }

  private:
    descriptor listening_, client_, server_;
};

TEST_F(connected_sockets, carry_bytes_and_descriptors_to_the_same_user) {
    const descriptor file(::memfd_create("file", MFD_CLOEXEC));
    ASSERT_EQ(::pwrite(file.get(), "calm", 4, 0), 4);
    const char text[] = "here it is";
    const int fds[] = {file.get()};
    ASSERT_TRUE(send_message(client(), std::as_bytes(std::span(text)), fds).ok());
    auto got = receive_message(server(), 100, 1000);
    ASSERT_TRUE(got.ok()) << got.why().message;
    EXPECT_STREQ(reinterpret_cast<const char*>(got->bytes.data()), text);
    ASSERT_EQ(got->descriptors.size(), 1U);
    char content[5] = {};
    EXPECT_EQ(::pread(got->descriptors[0].get(), content, 4, 0), 4);
    EXPECT_STREQ(content, "calm");
    EXPECT_EQ(*peer_process(server()), ::getpid());
}

size_t open_descriptors() {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) count += !entry.path().empty();
    return count;
}

TEST_F(connected_sockets, a_message_that_is_too_long_is_refused_and_its_descriptors_closed) {
    const size_t before = open_descriptors();
    const char text[] = "much too long";
    const int fds[] = {1, 1};
    ASSERT_TRUE(send_message(client(), std::as_bytes(std::span(text)), fds).ok());
    const auto got = receive_message(server(), 4, 1000);
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.why().kind, error_kind::usage);
    EXPECT_EQ(got.why().message, "a message of more than 4 bytes");
    EXPECT_EQ(open_descriptors(), before);
    ASSERT_TRUE(send_message(client(), std::as_bytes(std::span("ok", 3)), {}).ok());
    EXPECT_EQ(receive_message(server(), 4, 1000)->bytes.size(), 3U) << "the next one is read as if nothing was";
}

TEST_F(connected_sockets, more_descriptors_than_can_be_taken_are_none) {
    const size_t before = open_descriptors();
    char text = 'x';
    iovec part{&text, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(6 * sizeof(int))] = {};
    msghdr m{};
    m.msg_iov = &part;
    m.msg_iovlen = 1;
    m.msg_control = control;
    m.msg_controllen = sizeof control;
    cmsghdr* c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(6 * sizeof(int));
    const int six[6] = {1, 1, 1, 1, 1, 1};
    std::memcpy(CMSG_DATA(c), six, sizeof six);
    ASSERT_EQ(::sendmsg(client(), &m, 0), 1);
    const auto got = receive_message(server(), 4, 1000);
    ASSERT_TRUE(got.ok());
    EXPECT_TRUE(got->descriptors_lost);
    EXPECT_TRUE(got->descriptors.empty());
    EXPECT_EQ(open_descriptors(), before);
}

TEST(unix_socket, a_name_nobody_listens_on_is_unavailable) {
    auto none = connect_abstract(unused_name());
    ASSERT_FALSE(none.ok());
    EXPECT_EQ(none.why().kind, error_kind::unavailable);
}

TEST(unix_socket, a_name_in_use_cannot_be_taken_twice) {
    const std::string name = unused_name();
    auto first = listen_abstract(name, 1);
    ASSERT_TRUE(first.ok());
    EXPECT_FALSE(listen_abstract(name, 1).ok());
}

TEST_F(connected_sockets, a_peer_that_leaves_reads_as_an_empty_message) {
    client_leaves();
    auto got = receive_message(server(), 10, 1000);
    ASSERT_TRUE(got.ok());
    EXPECT_TRUE(got->bytes.empty());
}

TEST_F(connected_sockets, silence_is_a_failure_after_its_time) {
    auto got = receive_message(client(), 10, 10);
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.why().kind, error_kind::unavailable);
}

/// Whether a child of this process may become another user: root may, unless its container took that right.
bool may_become_another_user() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(::setuid(65534) == 0 ? 0 : 1);
    int status = 1;
    ::waitpid(child, &status, 0);
    return status == 0;
}

TEST(unix_socket, another_user_is_refused) {
    if (!may_become_another_user()) GTEST_SKIP() << "this process may not become another user";
    const std::string name = unused_name();
    auto listening = listen_abstract(name, 1);
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setuid(65534) != 0) ::_exit(9);
        // Our end checks the listener, too: it belongs to root.
        const auto refused = connect_abstract(name);
        ::_exit(refused.ok() ? 1 : 0);
    }
    auto accepted = accept_checked(listening->get());
    EXPECT_FALSE(accepted.ok());
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

}  // namespace
