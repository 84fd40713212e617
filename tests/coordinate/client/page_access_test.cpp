// How a process comes to the page of its job, where the agent is a process of the test.
#include "coordinate/client/page_access.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/unix_socket.hpp"
#include "coordinate/page/agent_page.hpp"
#include "coordinate/page/node_name.hpp"
#include "sanitized.hpp"
#include "temporary_folder.hpp"

namespace halcyon::coordinate {
namespace {

void hand_out(const agent_page& shared, int socket) {
    const uint64_t bytes = sizeof(page);
    const int fd = shared.fd();
    static_cast<void>(send_message(socket, std::as_bytes(std::span(&bytes, 1)), std::span(&fd, 1)));
}

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
            hand_out(shared, asks.get());
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

TEST(page_access, waits_on_for_the_page_when_its_process_was_stopped_meanwhile) {
    page_access::settings wanted;
    wanted.patience_ms = 60'000;
    ("stopped-" + std::to_string(::getpid())).copy(wanted.job.name, sizeof wanted.job.name - 1);
    char socket[100] = {};
    wanted.job.name_socket(socket, sizeof socket);
    const descriptor listening = listen_abstract(socket, 2).value();
    const pid_t pid = ::fork();
    if (pid == 0) {
        char complaint[200] = {};
        ::_exit(page_access::open(wanted, complaint, sizeof complaint) == nullptr ? 1 : 0);
    }
    const descriptor asks = accept_checked(listening.get()).value();
    while (!sleeps(pid)) ::usleep(100);  // in recvmsg(2)
    int status = 0;
    ::kill(pid, SIGSTOP);
    ::waitpid(pid, &status, WUNTRACED);
    ASSERT_TRUE(WIFSTOPPED(status));
    ::kill(pid, SIGCONT);
    hand_out(agent_page::create({.mounts = {"/scratch"}}).value(), asks.get());
    ::waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST(page_access, does_not_wait_for_ever_for_an_agent_that_does_not_answer) {
    const stopped_agent agent("mute-" + std::to_string(::getpid()));
    EXPECT_EQ(agent.open(), "I/O is not coordinated: the agent does not answer");
}

/// Takes the descriptors that are free below the highest one in use, so that the next ones are numbered on from there.
/// Returns the number of the next one.
int take_free_descriptors(int any) {
    int highest = any;
    for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd"))
        highest = std::max(highest, std::stoi(one.path().filename().string()));
    int next = ::dup(any);
    while (next >= 0 && next <= highest) next = ::dup(any);
    ::close(next);
    return next;
}

/// What a process says that has only so much of a resource when it asks an agent that answers.
class limited_process {
  public:
    explicit limited_process(const std::string& name) {
        wanted_.patience_ms = 60'000;
        (name + "-" + std::to_string(::getpid())).copy(wanted_.job.name, sizeof wanted_.job.name - 1);
        wanted_.job.name_socket(socket_, sizeof socket_);
        listening_ = listen_abstract(socket_, 2).value();
    }
    /// `most`: of descriptors, beside those that it has. `comes`: it comes as far as to be connected.
    [[nodiscard]] std::string complaint_with(__rlimit_resource_t resource, rlim_t most, bool comes) {
        int out[2] = {-1, -1};
        EXPECT_EQ(::pipe(out), 0);
        char complaint[200] = {};
        const pid_t pid = ::fork();
        if (pid == 0) {
            if (resource == RLIMIT_NOFILE) most += static_cast<rlim_t>(take_free_descriptors(out[1]));
            const rlimit limit{most, most};
            ::setrlimit(resource, &limit);
            page_access::open(wanted_, complaint, sizeof complaint);
            ::_exit(::write(out[1], complaint, sizeof complaint) == sizeof complaint ? 0 : 1);
        }
        if (comes) {
            const descriptor asks = accept_checked(listening_.get()).value();
            hand_out(agent_page::create({.mounts = {"/scratch"}}).value(), asks.get());
        }
        ::waitpid(pid, nullptr, 0);
        EXPECT_EQ(::read(out[0], complaint, sizeof complaint), static_cast<ssize_t>(sizeof complaint));
        for (const int fd : out) ::close(fd);
        return complaint;
    }

  private:
    page_access::settings wanted_;
    char socket_[100] = {};
    descriptor listening_;
};

TEST(page_access, says_that_no_descriptor_is_left_for_the_socket) {
    limited_process process("no-socket");
    EXPECT_EQ(process.complaint_with(RLIMIT_NOFILE, 0, false),
              "I/O is not coordinated: no descriptor is left for the agent's socket (ulimit -n)");
}

TEST(page_access, says_that_no_descriptor_is_left_for_the_page) {
    limited_process process("no-descriptor");
    descriptor gap(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const descriptor above(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    gap.reset();  // the next free ones do not follow one another
    EXPECT_EQ(process.complaint_with(RLIMIT_NOFILE, 1, true),
              "I/O is not coordinated: no descriptor is left for the agent's page (ulimit -n)");
}

TEST(page_access, says_that_no_memory_is_left_for_the_page) {
    limited_process process("no-memory");
    EXPECT_EQ(process.complaint_with(RLIMIT_AS, 0, true),
              "I/O is not coordinated: no memory for the agent's page (ulimit -v, ulimit -l)");
}

/// What a process says to whom an agent hands out a page in which this was changed.
template <class Change>
std::string complaint_about(Change change) {
    page_access::settings wanted;
    wanted.patience_ms = 60'000;
    ("changed-" + std::to_string(::getpid())).copy(wanted.job.name, sizeof wanted.job.name - 1);
    char socket[100] = {};
    wanted.job.name_socket(socket, sizeof socket);
    const descriptor listening = listen_abstract(socket, 2).value();
    const agent_page made = agent_page::create({.mounts = {"/scratch"}}).value();
    change(made.shared());
    std::thread agent([&] {
        const descriptor asks = accept_checked(listening.get()).value();
        hand_out(made, asks.get());
    });
    char complaint[300] = {};
    page* const found = page_access::open(wanted, complaint, sizeof complaint);
    agent.join();
    page_access::close(found);
    return complaint;
}

TEST(page_access, refuses_a_page_in_which_processes_or_times_are_others) {
    EXPECT_EQ(complaint_about([](page&) {}), "");
    EXPECT_EQ(complaint_about([](page& shared) { ++shared.pid_namespace; }),
              "I/O is not coordinated: the agent of this job on this node is in another PID namespace; start all of "
              "the job's processes on a node in the same one");
    EXPECT_EQ(complaint_about([](page& shared) { ++shared.time_namespace; }),
              "I/O is not coordinated: the agent of this job on this node is in another time namespace; start all of "
              "the job's processes on a node in the same one");
}

TEST(page_access, refuses_a_page_of_more_file_systems_than_it_has_room_for) {
    EXPECT_EQ(complaint_about([](page& shared) { shared.file_systems = 1000; }),
              "I/O is not coordinated: the agent's page is not of this version");
}

TEST(page_access, starts_an_agent_where_nobody_listens) {
    page_access::settings wanted;
    wanted.patience_ms = 20'000;
    std::string("nobody-" + std::to_string(::getpid())).copy(wanted.job.name, sizeof wanted.job.name - 1);
    char complaint[200] = {};
    EXPECT_EQ(page_access::open(wanted, complaint, sizeof complaint), nullptr);
    EXPECT_STREQ(complaint, "I/O is not coordinated: HALCYON_AGENT is not set: no agent can be started");
}

/// A job whose HALCYON_AGENT is a shell script, which leaves a line in a file for each start.
class job_with_script : public testing::Test {
  protected:
    job_with_script() {
        wanted_.patience_ms = 60'000;
        job_.copy(wanted_.job.name, sizeof wanted_.job.name - 1);
    }
    void script(const std::string& lines) {
        std::ofstream(agent_) << "#!/bin/sh\necho started >> " << starts_ << "\n" << lines << "\n";
        std::filesystem::permissions(agent_, std::filesystem::perms::owner_all);
        wanted_.agent = agent_.c_str();
    }
    /// The complaint, without what all of them begin with.
    [[nodiscard]] std::string open() const {
        char complaint[900] = {};
        EXPECT_EQ(page_access::open(wanted_, complaint, sizeof complaint), nullptr);
        const std::string begin = "I/O is not coordinated: ", text(complaint);
        EXPECT_TRUE(text.starts_with(begin)) << text;
        return text.substr(std::min(begin.size(), text.size()));
    }
    /// In another process of the job.
    [[nodiscard]] std::string open_in_other() const {
        const pid_t pid = ::fork();
        if (pid == 0) {
            std::ofstream(folder_.file("complaint")) << open();
            ::_exit(0);
        }
        ::waitpid(pid, nullptr, 0);
        return text_of(folder_.file("complaint"));
    }
    [[nodiscard]] static std::string text_of(const std::string& file) {
        std::ifstream in(file);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    [[nodiscard]] std::string starts() const { return text_of(starts_); }

    tests::temporary_folder folder_;
    std::string job_ = "script-" + folder_.path().filename().string();
    std::string agent_ = folder_.file("agent"), starts_ = folder_.file("starts"), facts_ = folder_.path().string();
    page_access::settings wanted_;
};

TEST_F(job_with_script, says_which_program_cannot_be_started_and_why) {
    if (tests::sanitized) GTEST_SKIP() << "under sanitizers, children cannot tell why they do not start";
    wanted_.agent = "/none/halcyon-agent";
    EXPECT_EQ(open(), "the agent cannot be started: HALCYON_AGENT: /none/halcyon-agent: No such file or directory");
}

TEST_F(job_with_script, hears_why_the_agent_cannot_run) {
    script("printf '0no room for 9 mounts' >&3; exec 3>&-; read _ < " + folder_.file("never"));
    EXPECT_EQ(open(), "the agent cannot run: no room for 9 mounts");
}

TEST_F(job_with_script, does_not_wait_for_an_agent_that_has_ended) {
    script("exit 1");
    EXPECT_EQ(open(), "the agent " + agent_ +
                          " ended before it was ready: does HALCYON_AGENT name halcyon-agent, and "
                          "does `ldd` of it find all libraries?");
}

TEST_F(job_with_script, waits_for_a_mute_agent_once_for_all_processes) {
    ASSERT_EQ(::mkfifo(folder_.file("fifo").c_str(), 0600), 0);
    wanted_.facts = facts_.c_str();
    script("read _ < " + folder_.file("fifo"));
    wanted_.patience_ms = 500;  // longer than it takes the script to begin
    const std::string mute = "the agent " + agent_ + " did not come up in time";
    EXPECT_EQ(open_in_other(), mute);
    wanted_.patience_ms = 600'000;
    EXPECT_EQ(open_in_other(), mute);
    EXPECT_EQ(open(), mute);
    EXPECT_EQ(starts(), "started\n");
    std::ofstream(folder_.file("fifo")) << "end\n";
}

TEST_F(job_with_script, remembers_without_a_folder_of_facts_what_the_process_itself_has_seen) {
    script("exit 1");
    EXPECT_EQ(open(), open());
    EXPECT_EQ(starts(), "started\n");
}

TEST_F(job_with_script, remembers_a_failed_start_by_more_of_the_node_than_the_name_of_the_host) {
    wanted_.facts = facts_.c_str();
    script("exit 1");
    EXPECT_NE(open_in_other(), "");
    const std::string node = node_name(host_name(), node_identity::of_this_process());
    const auto is_of_node = [&](const std::string& name) {
        return name.starts_with(node + ".") && name.ends_with(".no-agent");
    };
    EXPECT_EQ(std::ranges::count_if(folder_.names(), is_of_node), 1) << node;
}

TEST_F(job_with_script, starts_an_agent_again_where_the_failure_was_long_ago) {
    wanted_.facts = facts_.c_str();
    script("exit 1");
    EXPECT_NE(open_in_other(), "");
    bool found = false;
    for (const std::string& name : folder_.names()) {
        if (!name.ends_with(".no-agent")) continue;
        found = true;
        std::ofstream(folder_.file(name)) << "1 long ago";  // 1 ns after the node's start
    }
    EXPECT_TRUE(found);
    EXPECT_NE(open_in_other(), "long ago");
    EXPECT_EQ(starts(), "started\nstarted\n");
}

TEST_F(job_with_script, gives_the_agent_long_and_many_variables_and_its_own_settings) {
    const std::string mounts = "/" + std::string(9000, 'm') + "=unix:/socket";
    wanted_.mounts = mounts.c_str();
    wanted_.account = "physics";
    wanted_.patience = "250";
    wanted_.starvation = "9000";
    wanted_.pause = "50";
    wanted_.behind = "400";
    ::setenv("HALCYON_ACCOUNT", "of another one", 1);
    std::vector<std::string> names;
    for (int i = 0; i < 2500; ++i) ::setenv(names.emplace_back("HALCYON_TEST_" + std::to_string(i)).c_str(), "x", 1);
    script("env > " + folder_.file("env"));
    static_cast<void>(open());
    for (const std::string& name : names) ::unsetenv(name.c_str());
    ::unsetenv("HALCYON_ACCOUNT");
    const std::string seen = "\n" + text_of(folder_.file("env"));
    for (const std::string& line :
         {"HALCYON_COORDINATORS=" + mounts, std::string("HALCYON_ACCOUNT=physics"),
          std::string("HALCYON_COORDINATE_PATIENCE_MS=250"), std::string("HALCYON_COORDINATE_STARVATION_MS=9000"),
          std::string("HALCYON_COORDINATE_PAUSE_MS=50"), std::string("HALCYON_COORDINATE_BEHIND_MS=400"),
          names.back() + "=x"})
        EXPECT_NE(seen.find("\n" + line + "\n"), std::string::npos) << line.substr(0, 80);
    EXPECT_EQ(seen.find("of another one"), std::string::npos);
}

TEST_F(job_with_script, names_the_variable_that_is_too_long_for_the_system) {
    if (tests::sanitized) GTEST_SKIP() << "under sanitizers, children cannot tell why they do not start";
    const std::string mounts = "/" + std::string(200'000, 'm');
    wanted_.mounts = mounts.c_str();
    script("exit 1");
    EXPECT_EQ(open(), "the agent cannot be started: HALCYON_AGENT: " + agent_ +
                          ": Argument list too long; the longest variable is HALCYON_COORDINATORS, of 200022 bytes");
}

}  // namespace
}  // namespace halcyon::coordinate
