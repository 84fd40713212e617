// How a process comes to the page of its job, where the agent is a process of the test.
#include "coordinate/client/page_access.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "base/unix_socket.hpp"
#include "coordinate/page/agent_page.hpp"

namespace halcyon::coordinate {
namespace {

/// Listens for the job `name` with a short queue, stops itself, and hands out a page once it goes on.
class stopped_agent {
  public:
    explicit stopped_agent(const std::string& name) {
        wanted_.agent = "/none";
        wanted_.patience_ms = 100;
        name.copy(wanted_.job.name, sizeof wanted_.job.name - 1);
        wanted_.job.name_socket(socket_, sizeof socket_);
        pid_ = ::fork();
        if (pid_ == 0) listen();
        int status = 0;
        ::waitpid(pid_, &status, WUNTRACED);
        EXPECT_TRUE(WIFSTOPPED(status));
    }
    ~stopped_agent() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        for (const int fd : asking_) ::close(fd);
    }
    stopped_agent(const stopped_agent&) = delete;
    stopped_agent& operator=(const stopped_agent&) = delete;

    /// Until the kernel takes no more connections.
    void fill_queue() {
        sockaddr_un where{};
        where.sun_family = AF_UNIX;
        const std::string name(socket_);
        name.copy(where.sun_path + 1, sizeof where.sun_path - 1);
        const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
        for (;;) {
            asking_.push_back(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
            if (::connect(asking_.back(), reinterpret_cast<const sockaddr*>(&where), length) == 0) continue;
            ASSERT_EQ(errno, EAGAIN);
            return;
        }
    }
    void go_on() const { ::kill(pid_, SIGCONT); }
    [[nodiscard]] page_access::settings& wanted() { return wanted_; }
    /// "" with a page, else the complaint.
    [[nodiscard]] std::string open() const {
        char complaint[200] = {};
        return page_access::open(wanted_, complaint, sizeof complaint) == nullptr ? complaint : "";
    }

  private:
    [[noreturn]] void listen() const {
        const descriptor listening = listen_abstract(socket_, 2).value();
        const agent_page shared = agent_page::create({.mounts = {"/scratch"}}).value();
        ::raise(SIGSTOP);
        for (;;) {
            const descriptor asks = accept_checked(listening.get()).value();
            const uint64_t bytes = sizeof(page);
            const int fd = shared.fd();
            static_cast<void>(send_message(asks.get(), std::as_bytes(std::span(&bytes, 1)), std::span(&fd, 1)));
        }
    }

    page_access::settings wanted_;
    char socket_[100] = {};
    pid_t pid_ = 0;
    std::vector<int> asking_;
};

bool sleeps(pid_t pid) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(in, text);
    return text.find(") S ") != std::string::npos;
}

TEST(page_access, takes_a_full_queue_for_a_busy_agent_and_not_for_none) {
    stopped_agent agent("full-" + std::to_string(::getpid()));
    agent.fill_queue();
    EXPECT_EQ(agent.open(), "I/O is not coordinated: the agent's queue of connections is full; is it stopped?");
}

TEST(page_access, waits_for_room_in_the_queue) {
    stopped_agent agent("room-" + std::to_string(::getpid()));
    agent.fill_queue();
    agent.wanted().patience_ms = 60'000;
    const pid_t later = ::fork();
    if (later == 0) {
        while (!sleeps(::getppid())) ::usleep(1000);  // in connect(2)
        agent.go_on();
        ::_exit(0);
    }
    EXPECT_EQ(agent.open(), "");
    ::waitpid(later, nullptr, 0);
}

TEST(page_access, does_not_wait_for_ever_for_an_agent_that_does_not_answer) {
    const stopped_agent agent("mute-" + std::to_string(::getpid()));
    EXPECT_EQ(agent.open(), "I/O is not coordinated: the agent does not answer");
}

TEST(page_access, starts_an_agent_where_nobody_listens) {
    page_access::settings wanted;
    wanted.patience_ms = 20'000;
    std::string("nobody-" + std::to_string(::getpid())).copy(wanted.job.name, sizeof wanted.job.name - 1);
    char complaint[200] = {};
    EXPECT_EQ(page_access::open(wanted, complaint, sizeof complaint), nullptr);
    EXPECT_STREQ(complaint, "I/O is not coordinated: HALCYON_AGENT is not set: no agent can be started");
}

}  // namespace
}  // namespace halcyon::coordinate
