#include "base/line_socket/listening_socket.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/directory_claim.hpp"
#include "base/line_socket/child_process.hpp"
#include "base/line_socket/socket_connect.hpp"
#include "base/line_socket/waiting.hpp"
#include "temporary_folder.hpp"

namespace halcyon {
namespace {

using namespace std::chrono_literals;
using tests::child_process;

socket_address at(const std::string& text) {
    return parse_socket_address(text).value();
}

mode_t permissions_of(const std::string& path) {
    struct stat there {};
    return ::lstat(path.c_str(), &there) == 0 ? there.st_mode & 07777U : 0;
}

class path_sockets : public ::testing::Test {
  protected:
    path_sockets() { std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755)); }
    [[nodiscard]] std::string path() const { return folder_.file("line.socket"); }
    [[nodiscard]] socket_address address() const { return at("unix:" + path()); }
    [[nodiscard]] std::vector<std::string> names() const { return folder_.names(); }

  private:
    tests::temporary_folder folder_;
};

/// Both ends of a pipe.
struct pipe_ends {
    pipe_ends() {
        int ends[2] = {-1, -1};
        EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
        read = descriptor(ends[0]);
        write = descriptor(ends[1]);
    }
    descriptor read, write;
};

/// A process that listens at the address until it is killed; returns once it does.
class listening_process {
  public:
    explicit listening_process(const socket_address& address)
        : process_([&] {
              const auto l = listening_socket::open(address, {});
              if (!l || ::write(ready_.write.get(), "y", 1) != 1) return 1;
              ::pause();
              return 0;
          }) {
        ready_.write.reset();
        char answer = 'n';
        EXPECT_EQ(::read(ready_.read.get(), &answer, 1), 1);
    }
    [[nodiscard]] pid_t pid() const { return process_.pid(); }
    void kill() { process_.kill(SIGKILL); }

  private:
    pipe_ends ready_;
    child_process process_;
};

TEST_F(path_sockets, the_kernel_tells_who_connects) {
    auto listening = listening_socket::open(address(), {});
    ASSERT_TRUE(listening.ok()) << listening.why().message;
    EXPECT_FALSE(listening->accept()->socket) << "nobody has connected, and nobody is waited for";
    child_process client([&] { return connect_stream(address(), 5s) ? 0 : 1; });
    const auto accepted = tests::accept_one(*listening);
    ASSERT_TRUE(accepted.ok()) << accepted.why().message;
    const peer_identity expected{::geteuid(), ::getegid(), client.pid(), peer_identity::witness::kernel};
    EXPECT_EQ(accepted->peer, expected);
    EXPECT_FALSE(accepted->challenge);
    EXPECT_EQ(client.exit_status(), 0);
}

TEST_F(path_sockets, permissions_say_whether_other_users_may_connect) {
    if (!tests::may_become_another_user()) GTEST_SKIP() << "this process may not become another user";
    const auto connect_as_nobody = [&] {
        if (!tests::become_nobody()) return 9;
        const auto s = connect_stream(address(), 5s);
        return s ? 0 : s.why().system_errno == EACCES ? 1 : 2;
    };
    {
        auto listening = listening_socket::open(address(), {.permissions = 0666});
        ASSERT_TRUE(listening.ok()) << listening.why().message;
        child_process client(connect_as_nobody);
        const auto accepted = tests::accept_one(*listening);
        ASSERT_TRUE(accepted.ok() && accepted->peer);
        EXPECT_EQ(accepted->peer->uid, tests::nobody);
        EXPECT_EQ(accepted->peer->gid, tests::nobody);
        EXPECT_EQ(client.exit_status(), 0);
    }
    const auto listening = listening_socket::open(address(), {});
    ASSERT_TRUE(listening.ok()) << listening.why().message;
    EXPECT_EQ(child_process(connect_as_nobody).exit_status(), 1) << "without a word, only the own user may";
}

TEST_F(path_sockets, permissions_do_not_depend_on_the_umask) {
    for (const mode_t umask : {0000U, 0022U, 0777U}) {
        const mode_t before = ::umask(umask);
        const auto listening = listening_socket::open(address(), {.permissions = 0662});
        ::umask(before);
        ASSERT_TRUE(listening.ok()) << listening.why().message;
        EXPECT_EQ(permissions_of(path()), 0662U);
    }
}

TEST_F(path_sockets, the_file_of_a_killed_process_is_replaced) {
    listening_process first(address());
    first.kill();
    ASSERT_EQ(names(), std::vector<std::string>{"line.socket"}) << "it could not remove its file";
    const auto second = listening_socket::open(address(), {});
    ASSERT_TRUE(second.ok()) << second.why().message;
    EXPECT_TRUE(connect_stream(address(), 5s).ok());
}

TEST_F(path_sockets, a_live_process_keeps_its_address_and_is_named) {
    const listening_process first(address());
    const auto second = listening_socket::open(address(), {});
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.why().kind, error_kind::unavailable);
    EXPECT_EQ(second.why().message, "unix:" + path() + ": in use by process " + std::to_string(first.pid()) +
                                        " of user " + std::to_string(::geteuid()));
    EXPECT_TRUE(connect_stream(address(), 5s).ok()) << "it is still there";
}

TEST_F(path_sockets, a_busy_process_keeps_its_address) {
    auto first = listening_socket::open(address(), {.backlog = 0});
    ASSERT_TRUE(first.ok());
    std::vector<descriptor> waiting;
    while (true) {
        auto s = connect_stream(address(), 1ms);
        if (!s) break;
        waiting.push_back(std::move(*s));
    }
    const auto second = listening_socket::open(address(), {});
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.why().message, "unix:" + path() + ": in use by another process") << "its queue is full";
}

TEST_F(path_sockets, a_file_that_is_no_socket_stays) {
    std::ofstream(path()) << "precious";
    const auto listening = listening_socket::open(address(), {});
    ASSERT_FALSE(listening.ok());
    EXPECT_EQ(listening.why().kind, error_kind::system);
    EXPECT_EQ(listening.why().system_errno, EEXIST);
    EXPECT_EQ(listening.why().message,
              "unix:" + path() + ": the file is there and is no socket; remove it, or choose another path");
    EXPECT_EQ(std::filesystem::file_size(path()), 8U);
}

TEST_F(path_sockets, the_file_is_gone_at_the_end_unless_it_is_somebody_elses) {
    {
        const auto listening = listening_socket::open(address(), {});
        ASSERT_TRUE(listening.ok());
        ASSERT_EQ(names(), std::vector<std::string>{"line.socket"});
    }
    EXPECT_TRUE(names().empty());
    {
        const auto first = listening_socket::open(address(), {});
        ASSERT_TRUE(first.ok());
        std::filesystem::remove(path());
        std::ofstream(path()) << "another";
    }
    EXPECT_EQ(names(), std::vector<std::string>{"line.socket"});
}

TEST_F(path_sockets, a_forked_process_leaves_the_file_to_its_parent) {
    auto listening = listening_socket::open(address(), {});
    ASSERT_TRUE(listening.ok());
    child_process forked([&] {
        const listening_socket gone = std::move(*listening);
        return 0;
    });
    EXPECT_EQ(forked.exit_status(), 0);
    EXPECT_TRUE(connect_stream(address(), 5s).ok());
}

TEST_F(path_sockets, of_many_who_replace_a_stale_file_at_once_one_listens) {
    constexpr size_t most = 8;
    for (int round = 0; round < 50; ++round) {
        listening_process(address()).kill();
        pipe_ends start, answers;
        std::vector<std::unique_ptr<child_process>> rivals;
        rivals.reserve(most);
        const auto rival = [&] {
            // All begin when the pipe ends.
            start.write.reset();
            char end = 0;
            if (::read(start.read.get(), &end, 1) != 0) return 1;
            const auto l = listening_socket::open(address(), {});
            if (::write(answers.write.get(), l ? "y" : "n", 1) != 1) return 1;
            ::pause();
            return 0;
        };
        while (rivals.size() < most) rivals.push_back(std::make_unique<child_process>(rival));
        start.write.reset();
        std::string all(most, '?');
        for (char& answer : all) ASSERT_EQ(::read(answers.read.get(), &answer, 1), 1);
        ASSERT_EQ(std::ranges::count(all, 'y'), 1) << all << " in round " << round;
        EXPECT_TRUE(connect_stream(address(), 5s).ok());
    }
}

TEST_F(path_sockets, a_directory_that_somebody_else_keeps_locked_is_no_matter) {
    const directory_claim held = directory_claim::take(std::filesystem::path(path()).parent_path()).value();
    EXPECT_TRUE(listening_socket::open(address(), {.lock_patience = 0ms}).ok());
}

/// Of the test, which keeps it locked.
descriptor locked_file(const std::string& path, mode_t permissions) {
    descriptor made(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, permissions));
    EXPECT_TRUE(made);
    EXPECT_EQ(::fchmod(made.get(), permissions), 0);
    EXPECT_EQ(::flock(made.get(), LOCK_EX), 0);
    return made;
}

TEST_F(path_sockets, processes_of_one_user_wait_for_each_other) {
    const std::string claimed = std::filesystem::path(path()).parent_path() / ".halcyon-socket.lock";
    const descriptor held = locked_file(claimed, 0600);
    const auto listening = listening_socket::open(address(), {.lock_patience = 1ms});
    ASSERT_FALSE(listening.ok());
    EXPECT_EQ(listening.why().kind, error_kind::unavailable);
    EXPECT_EQ(listening.why().message,
              "unix:" + path() + ": " + claimed + " stays locked by another process of this user");
}

TEST_F(path_sockets, a_claim_that_others_can_lock_does_not_count) {
    const std::string claimed = std::filesystem::path(path()).parent_path() / ".halcyon-socket.lock";
    {
        const descriptor held = locked_file(claimed, 0644);
        EXPECT_TRUE(listening_socket::open(address(), {.lock_patience = 0ms}).ok());
    }
    if (::geteuid() != 0) return;  // of another user
    ASSERT_EQ(::unlink(claimed.c_str()), 0);
    const descriptor held = locked_file(claimed, 0600);
    ASSERT_EQ(::fchown(held.get(), 65534, 65534), 0);
    EXPECT_TRUE(listening_socket::open(address(), {.lock_patience = 0ms}).ok());
}

TEST(abstract_sockets, a_name_in_use_is_refused_and_its_process_named) {
    const socket_address address = at("unix:@halcyon-test-" + std::to_string(::getpid()));
    listening_process first(address);
    const auto second = listening_socket::open(address, {});
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.why().message, address.text() + ": in use by process " + std::to_string(first.pid()) +
                                        " of user " + std::to_string(::geteuid()));
    first.kill();
    EXPECT_TRUE(listening_socket::open(address, {}).ok()) << "the name ends with its process";
}

TEST(tcp_sockets, listen_on_a_port_that_the_system_chooses_in_both_families) {
    for (const char* text : {"tcp:127.0.0.1:0", "tcp:[::1]:0"}) {
        auto listening = listening_socket::open(at(text), {.insecure = true});
        if (!listening && listening.why().system_errno == EADDRNOTAVAIL) continue;  // no IPv6 here
        ASSERT_TRUE(listening.ok()) << listening.why().message;
        EXPECT_NE(listening->address().port, 0);
        const auto client = connect_stream(listening->address(), 5s);
        ASSERT_TRUE(client.ok()) << client.why().message;
        const auto accepted = tests::accept_one(*listening);
        ASSERT_TRUE(accepted.ok()) << accepted.why().message;
        EXPECT_FALSE(accepted->peer) << "nobody knows yet";
        const auto second = listening_socket::open(listening->address(), {.insecure = true});
        ASSERT_FALSE(second.ok());
        EXPECT_EQ(second.why().message, listening->address().text() + ": in use by another process");
    }
}

/// Leaves this process without a free descriptor.
class no_descriptors {
  public:
    no_descriptors() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        rlimit few = before_;
        few.rlim_cur = 64;
        ::setrlimit(RLIMIT_NOFILE, &few);
        for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) taken_.emplace_back(fd);
    }
    ~no_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

  private:
    rlimit before_{};
    std::vector<descriptor> taken_;
};

TEST_F(path_sockets, without_descriptors_a_connection_is_closed_instead_of_waiting_forever) {
    auto listening = listening_socket::open(address(), {});
    auto client = connect_stream(address(), 5s);
    ASSERT_TRUE(listening.ok() && client.ok());
    {
        const no_descriptors left;
        const auto accepted = listening->accept();
        ASSERT_FALSE(accepted.ok());
        EXPECT_EQ(accepted.why().system_errno, EMFILE);
        pollfd now{listening->fd(), POLLIN, 0};
        EXPECT_EQ(::poll(&now, 1, 0), 0) << "the loop would turn without end";
    }
    char byte = 0;
    EXPECT_EQ(::recv(client->get(), &byte, 1, 0), 0);
    client = connect_stream(address(), 5s);
    EXPECT_TRUE(listening->accept()->socket) << "with descriptors it goes on";
}

}  // namespace
}  // namespace halcyon
