// What an agent is told by its variables, and what it does where its system does not help.
#include "coordinate/agent/agent_loop.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <iterator>

#include "base/line_socket/listening_socket.hpp"
#include "coordinate/client/page_access.hpp"
#include "coordinate/page/node_name.hpp"
#include "coordinate/page/slot_claim.hpp"
#include "temporary_folder.hpp"

namespace halcyon::coordinate {
namespace {

TEST(parse_mounts, splits_a_line_where_the_address_begins) {
    const auto found = parse_mounts("/data/run=5/=unix:/run/a=b.socket\n/scratch=tcp:host:7,unix:/x\n",
                                    "/scratch=/run/m=1\n/data/run=5=/run/m=2\n")
                           .value();
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].path, "/data/run=5");
    EXPECT_EQ(found[0].addresses, "unix:/run/a=b.socket");
    EXPECT_EQ(found[0].munge_socket, "/run/m=2");
    EXPECT_EQ(found[1].path, "/scratch");
    EXPECT_EQ(found[1].addresses, "tcp:host:7,unix:/x");
    EXPECT_EQ(found[1].munge_socket, "/run/m=1");
}

TEST(parse_mounts, takes_words_behind_the_addresses_for_whom_to_believe) {
    const auto found = parse_mounts("/a=tcp:host:7,unix:/x\tmunge\tuser:990\n/b=unix:/x").value();
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].addresses, "tcp:host:7,unix:/x");
    EXPECT_TRUE(found[0].needs_munge);
    EXPECT_EQ(found[0].user, 990U);
    EXPECT_FALSE(found[1].needs_munge);
    EXPECT_FALSE(found[1].user);
    for (const char* wrong : {"/a=tcp:host:7\tmung", "/a=unix:/x\tuser:", "/a=unix:/x\tuser:9x"})
        EXPECT_FALSE(parse_mounts(wrong)) << wrong;
}

TEST(parse_mounts, refuses_lines_without_an_absolute_path_or_an_address) {
    for (const char* wrong : {"scratch=unix:/a", "/scratch", "/scratch=", "/scratch=/run/a.socket"})
        EXPECT_FALSE(parse_mounts(wrong)) << wrong;
    EXPECT_FALSE(parse_mounts("/scratch=unix:/a", "/scratch"));
}

/// An agent in a process of its own, which tells by a pipe that it is ready, or why not.
class forked_agent {
  public:
    explicit forked_agent(
        agent_loop_settings with, const std::function<void()>& before = [] {})
        : with_(with) {
        if (::pipe(told_.data()) != 0) throw std::runtime_error("pipe");
        pid_ = ::fork();
        if (pid_ != 0) {
            ::close(told_[1]);
            return;
        }
        before();
        static_cast<void>(run_agent(with, [this](const result<void>& is_ready) {
            const std::string text = is_ready ? "ready" : is_ready.why().message;
            static_cast<void>(::write(told_[1], text.data(), text.size()) > 0);
            ::close(told_[1]);
        }));
        ::_exit(0);
    }
    ~forked_agent() {
        ::close(told_[0]);
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    forked_agent(const forked_agent&) = delete;
    forked_agent& operator=(const forked_agent&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }
    void await_end() const {
        siginfo_t how{};
        ::waitid(P_PID, static_cast<id_t>(pid_), &how, WEXITED | WNOWAIT);
    }
    /// "": nothing for a minute.
    [[nodiscard]] std::string said() const {
        pollfd one{told_[0], POLLIN, 0};
        std::array<char, 300> text{};
        if (::poll(&one, 1, 60'000) != 1) return "";
        const ssize_t bytes = ::read(told_[0], text.data(), text.size());
        return {text.data(), static_cast<size_t>(std::max<ssize_t>(bytes, 0))};
    }
    /// The page, as a process of the job gets it, whose agent must be there.
    [[nodiscard]] page* open_page() const {
        page_access::settings wanted;
        wanted.job = with_.job;
        wanted.patience_ms = 60'000;
        std::array<char, 900> complaint{};
        page* const found = page_access::open(wanted, complaint.data(), complaint.size());
        EXPECT_NE(found, nullptr) << complaint.data();
        return found;
    }

  private:
    agent_loop_settings with_;
    std::array<int, 2> told_{};
    pid_t pid_ = 0;
};

class agents_of_a_job : public testing::Test {
  protected:
    agents_of_a_job() {
        std::string("loop-" + folder_.path().filename().string()).copy(with_.job.name, sizeof with_.job.name - 1);
        with_.node = "n1";
        with_.mounts = {{"/scratch", "unix:" + folder_.file("no-socket")}};
        with_.first_process_s = 600;
    }
    static bool await_beats(const page& shared, int many) {
        int64_t before = shared.beat_ns.load();
        for (int waited_ms = 0; many > 0 && waited_ms < 60'000; ++waited_ms, ::usleep(1000)) {
            const int64_t now = shared.beat_ns.load();
            many -= now != before ? 1 : 0;
            before = now;
        }
        return many == 0;
    }

    [[nodiscard]] std::string facts_of(pid_t agent) const {
        const std::string node = node_name("n1", node_identity::of_this_process());
        return folder_.file(node + "." + std::to_string(agent) + ".agent");
    }

    tests::temporary_folder folder_;
    agent_loop_settings with_;
};

TEST_F(agents_of_a_job, go_on_while_their_file_of_facts_cannot_be_written) {
    with_.facts_directory = folder_.path().string();
    std::string blocked;
    const forked_agent agent(with_, [&] {
        blocked = facts_of(::getpid()) + ".tmp";
        ::mkfifo(blocked.c_str(), 0600);  // whoever opens it for writing waits for a reader
    });
    EXPECT_EQ(agent.said(), "ready");
    const page* const shared = agent.open_page();
    ASSERT_NE(shared, nullptr);
    EXPECT_TRUE(await_beats(*shared, 10));
    std::ifstream reader(facts_of(agent.pid()) + ".tmp");
    std::string line;
    std::getline(reader, line);
    EXPECT_EQ(line, "untold 1");
    std::getline(reader, line);
    EXPECT_EQ(line, "pid_namespace " + std::to_string(pid_namespace()));
}

TEST_F(agents_of_a_job, run_without_threads_of_their_own) {
    const forked_agent agent(with_, [] {
        if (::getuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(1);
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_NPROC, &none);
    });
    EXPECT_EQ(agent.said(), "ready");
}

TEST_F(agents_of_a_job, say_why_they_cannot_run) {
    with_.mounts.assign(9, with_.mounts.front());
    EXPECT_EQ(forked_agent(with_).said(), "9 coordinated paths; expected from 1 to 8");
    with_.mounts.assign(1, {"/" + std::string(600, 'x'), with_.mounts.front().addresses});
    EXPECT_EQ(forked_agent(with_).said(),
              "coordinated path '/" + std::string(39, 'x') + "…' has 601 bytes; expected fewer than 512");
}

TEST_F(agents_of_a_job, close_the_page_in_the_end_for_a_process_that_has_it_and_comes_later) {
    with_.linger_s = 0.01;
    const forked_agent agent(with_);
    EXPECT_EQ(agent.said(), "ready");
    page* const shared = agent.open_page();
    ASSERT_NE(shared, nullptr);
    const pid_t process = ::fork();
    if (process == 0) {
        claim_slot(*shared, process_slot::owner_of(::getpid(), start_of_process(::getpid())));
        ::pause();
    }
    while (shared->slots[0].owner == 0) ::usleep(1000);
    EXPECT_TRUE(await_beats(*shared, 2));
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    agent.await_end();
    EXPECT_EQ(turn_word::state(shared->file_system[0].turn), permission::closed);
}

/// A process that has the page of an agent, which has closed its socket since, and no place in the page yet.
class late_process : public agents_of_a_job {
  protected:
    late_process() { with_.first_process_s = 3; }
    ~late_process() override {
        if (process_ <= 0) return;
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    [[nodiscard]] static bool is_closed(const page& shared) {
        return turn_word::state(shared.file_system[0].turn) == permission::closed;
    }
    static bool await(const std::function<bool()>& holds) {
        for (int waited_ms = 0; !holds() && waited_ms < 60'000; ++waited_ms) ::usleep(1000);
        return holds();
    }
    void come(page& shared) {
        process_ = ::fork();
        if (process_ != 0) return;
        claim_slot(shared, process_slot::owner_of(::getpid(), start_of_process(::getpid())));
        while (true) ::pause();
    }

    pid_t process_ = 0;
};

TEST_F(late_process, is_taken_in_and_others_find_the_same_agent) {
    const forked_agent agent(with_);
    EXPECT_EQ(agent.said(), "ready");
    page* const shared = agent.open_page();
    ASSERT_NE(shared, nullptr);
    ASSERT_TRUE(await([&] { return is_closed(*shared); }));
    come(*shared);
    ASSERT_TRUE(await([&] { return !is_closed(*shared); }));
    const page* const again = agent.open_page();
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(again->slots[0].owner.load(), process_slot::owner_of(process_, start_of_process(process_)));
}

TEST_F(late_process, finds_the_page_closed_where_another_agent_has_the_job) {
    const forked_agent agent(with_);
    EXPECT_EQ(agent.said(), "ready");
    page* const shared = agent.open_page();
    ASSERT_NE(shared, nullptr);
    ASSERT_TRUE(await([&] { return is_closed(*shared); }));
    with_.first_process_s = 600;
    const forked_agent other(with_);
    EXPECT_EQ(other.said(), "ready");
    come(*shared);
    EXPECT_TRUE(await_beats(*shared, 20));
    EXPECT_TRUE(is_closed(*shared));
}

TEST_F(agents_of_a_job, tell_a_coordinator_more_of_their_node_than_the_name_of_the_host) {
    const std::string address = "unix:@" + std::string(with_.job.name);
    listening_socket daemon = listening_socket::open(parse_socket_address(address).value(), {}).value();
    with_.mounts.front().addresses = address;
    std::string("0123456789abcdef").copy(with_.job.secret, sizeof with_.job.secret - 1);
    with_.job.processes = with_.job.nodes = 1;
    const forked_agent agent(with_);
    EXPECT_EQ(agent.said(), "ready");
    page* const shared = agent.open_page();
    ASSERT_NE(shared, nullptr);
    claim_slot(*shared, process_slot::owner_of(::getpid(), start_of_process(::getpid())));
    pollfd asks{daemon.fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&asks, 1, 60'000), 1);
    const descriptor peer = std::move(daemon.accept().value().socket);
    pollfd says{peer.get(), POLLIN, 0};
    ASSERT_EQ(::poll(&says, 1, 60'000), 1);
    std::array<char, 1000> line{};
    ASSERT_GT(::read(peer.get(), line.data(), line.size() - 1), 0);
    const std::string expected = node_name("n1", node_identity::of_this_process());
    EXPECT_NE(std::string(line.data()).find('"' + expected + '"'), std::string::npos) << line.data();
}

TEST_F(agents_of_a_job, are_silent_for_no_shorter_time_than_heartbeats_take) {
    with_.page.patience_s = 0.01;
    with_.facts_directory = folder_.path().string();
    const forked_agent agent(with_);
    EXPECT_EQ(agent.said(), "ready");
    const page* const shared = agent.open_page();
    ASSERT_NE(shared, nullptr);
    EXPECT_EQ(shared->patience_ns, static_cast<int64_t>(lease_silence_s * 1e9));
    const std::string facts = facts_of(agent.pid());
    std::string text;
    for (int waited_ms = 0; text.empty() && waited_ms < 60'000; ++waited_ms, ::usleep(1000)) {
        std::ifstream in(facts);
        text.assign(std::istreambuf_iterator<char>(in), {});
    }
    EXPECT_NE(text.find("\npatience_raised 1\n"), std::string::npos) << text;
}

TEST_F(agents_of_a_job, take_another_one_that_listens_for_as_good) {
    const forked_agent first(with_);
    EXPECT_EQ(first.said(), "ready");
    EXPECT_EQ(forked_agent(with_).said(), "ready");
}

}  // namespace
}  // namespace halcyon::coordinate
