// Real programs under libhalcyon-io, with real agents and a real coordinator.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "coordinate/processes/small_daemon.hpp"
#include "temporary_folder.hpp"

namespace halcyon::tests {
namespace {

namespace fs = std::filesystem;

class coordinated_programs : public testing::Test {
  protected:
    coordinated_programs() {
        fs::create_directory(scratch());
        fs::create_directory(facts());
    }
    /// In memory: what a disk does is not asked here.
    [[nodiscard]] fs::path scratch() const { return "/dev/shm/" + folder_.path().filename().string(); }
    ~coordinated_programs() override {
        std::error_code ignored;
        fs::remove_all(scratch(), ignored);
    }
    [[nodiscard]] fs::path facts() const { return folder_.path() / "facts"; }
    [[nodiscard]] std::string address() const { return "unix:" + (folder_.path() / "socket").string(); }

    static settings by(policy::rule rule) {
        settings how;
        how.rule = rule;
        how.relearn_s = 0;
        how.interference.pairs = 64;
        return how;
    }

    /// Agents of other tests may be about to end.
    [[nodiscard]] std::string name_of(const std::string& job) const {
        return job + "-" + folder_.path().filename().string();
    }
    /// A shell command of a job, in the background.
    pid_t start(const std::string& job, const std::string& command) {
        return start_program(job, {"/bin/sh", "-c", command});
    }
    /// A program of a job, likewise.
    pid_t start_program(const std::string& job, std::vector<std::string> words) {
        const std::string facts_of_job = (facts() / job).string();
        fs::create_directory(facts_of_job);
        const std::string mounts = scratch().string() + "=" + address();
        std::map<std::string, std::string> variables = {
            {"HALCYON_LAYERS", "coordinate"},
            {"HALCYON_COORDINATORS", mounts},
            {"HALCYON_AGENT", agent_},
            {"HALCYON_JOB", name_of(job)},
            {"HALCYON_TRACE_DIR", facts_of_job},
            {"HALCYON_JOB_SECRET", "a secret of the job " + job},
            {"LD_PRELOAD", HALCYON_TEST_LIBRARY},
            {"HALCYON_COORDINATE_PATIENCE_MS", patience_ms_},
        };
        variables.insert(more_variables_.begin(), more_variables_.end());
        const pid_t pid = ::fork();
        if (pid != 0) return pid;
        for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        ::execv(arguments.front(), arguments.data());
        ::_exit(127);
    }
    [[nodiscard]] std::string program(const std::string& words) const {
        return std::string("exec ") + HALCYON_TEST_PROGRAM + " " + scratch().string() + "/" + words;
    }
    static int end_of(pid_t pid) {
        int status = 0;
        ::waitpid(pid, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    /// Of programs, which add an ending.
    [[nodiscard]] std::string marks() const { return (folder_.path() / "mark").string(); }
    void make_mark(const std::string& ending) const { std::ofstream(marks() + "." + ending).flush(); }
    [[nodiscard]] int64_t read_mark(const std::string& ending) const {
        int64_t value = 0;
        std::ifstream(marks() + "." + ending) >> value;
        return value;
    }
    /// Whether that comes true. Otherwise the program, which may wait for this test, is killed.
    template <class Condition>
    [[nodiscard]] static bool comes_true(Condition holds, pid_t program) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!holds()) {
            ::usleep(1000);
            if (std::chrono::steady_clock::now() < until) continue;
            ::kill(program, SIGKILL);
            return false;
        }
        return true;
    }
    /// Bytes of its calls so far.
    [[nodiscard]] static int64_t written_by(pid_t program) {
        std::ifstream in("/proc/" + std::to_string(program) + "/io");
        std::string name;
        for (int64_t value = 0; in >> name >> value;)
            if (name == "wchar:") return value;
        return 0;
    }
    /// Whether it moves more than is left of its lease, and more than its agent may yet have added.
    [[nodiscard]] static bool moves_beyond_leases(pid_t program) {
        const int64_t before = written_by(program), most = 4 * settings().most_lease_bytes;
        return comes_true([&] { return written_by(program) - before > most; }, program);
    }

    /// Numbers of all files of facts of a job with this ending, added up.
    [[nodiscard]] std::map<std::string, int64_t> facts_of(const std::string& job, const std::string& ending) const {
        std::map<std::string, int64_t> sum;
        for (const auto& entry : fs::directory_iterator(facts() / job)) {
            if (entry.path().extension() != ending) continue;
            ++sum["files"];
            std::ifstream in(entry.path());
            for (std::string line; std::getline(in, line);) {
                std::istringstream words(line);
                std::string name;
                int64_t value = 0;
                if (words >> name >> value) sum[name] += value;
            }
        }
        return sum;
    }
    /// Their files end with this line when they end.
    [[nodiscard]] bool has_ended_agent(const std::string& job) const {
        for (const auto& entry : fs::directory_iterator(facts() / job)) {
            if (entry.path().extension() != ".agent") continue;
            std::ifstream in(entry.path());
            for (std::string line; std::getline(in, line);)
                if (line == "end done") return true;
        }
        return false;
    }
    void await_agents(const std::string& job) const {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (!has_ended_agent(job)) {
            ASSERT_LT(std::chrono::steady_clock::now(), until) << "the agent of " << job << " did not end";
            ::usleep(10'000);
        }
    }
    [[nodiscard]] pid_t find_agent(const std::string& job) const {
        const std::string wanted = "HALCYON_AGENT_JOB=" + name_of(job);
        for (const auto& entry : fs::directory_iterator("/proc")) {
            std::ifstream in(entry.path() / "environ", std::ios::binary);
            for (std::string one; std::getline(in, one, '\0');)
                if (one == wanted) return static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
        }
        return 0;
    }

    temporary_folder folder_;
    /// Of tests in which nobody is silent: this machine may be slow.
    std::string patience_ms_ = "20000";
    std::string agent_ = HALCYON_TEST_AGENT;
    std::map<std::string, std::string> more_variables_;
};

TEST_F(coordinated_programs, move_all_under_leases_and_have_one_agent) {
    small_daemon daemon(by(policy::rule::fcfs), address());
    std::string all = "echo >" + scratch().string() + "/kept; ";  // the agent stays for as long as the shell
    for (int i = 0; i < 6; ++i)
        all += HALCYON_TEST_PROGRAM " " + scratch().string() + "/" + std::to_string(i) + " 20 & ";
    EXPECT_EQ(end_of(start("A", all + "wait")), 0);
    await_agents("A");
    auto moved = facts_of("A", ".coordinate");
    EXPECT_EQ(moved["bytes"], (6 * 20 << 20) + 1);
    EXPECT_EQ(moved["bytes_unasked"], 0);
    EXPECT_EQ(facts_of("A", ".agent")["files"], 1);
    EXPECT_EQ(facts_of("A", ".agent")["silences"], 0);
    EXPECT_EQ(daemon.counted().bytes_moved, (uint64_t{6 * 20} << 20U) + 1);
}

TEST_F(coordinated_programs, start_an_agent_with_their_settings_though_they_clear_their_environment) {
    small_daemon daemon(by(policy::rule::fcfs), address());
    agent_ = folder_.file("agent");
    std::ofstream(agent_) << "#!/bin/sh\nenv > " << folder_.file("env") << "\nexec " << HALCYON_TEST_AGENT << "\n";
    fs::permissions(agent_, fs::perms::owner_all);
    more_variables_ = {{"SLURM_JOB_ACCOUNT", "physics"},
                       {"HALCYON_COORDINATE_STARVATION_MS", "9000"},
                       {"HALCYON_MUNGE_SOCKETS", "/" + std::string(5000, 'm') + "=/socket"}};
    EXPECT_EQ(end_of(start_program("A", {HALCYON_TEST_CLEARED, (scratch() / "file").string()})), 0);
    await_agents("A");
    std::ifstream in(folder_.file("env"));
    std::map<std::string, std::string> given;
    for (std::string line; std::getline(in, line);) given[line.substr(0, line.find('='))] = line;
    EXPECT_EQ(given["HALCYON_ACCOUNT"], "HALCYON_ACCOUNT=physics");
    EXPECT_EQ(given["HALCYON_COORDINATE_PATIENCE_MS"], "HALCYON_COORDINATE_PATIENCE_MS=" + patience_ms_);
    EXPECT_EQ(given["HALCYON_COORDINATE_STARVATION_MS"], "HALCYON_COORDINATE_STARVATION_MS=9000");
    EXPECT_EQ(given["HALCYON_MUNGE_SOCKETS"], "HALCYON_MUNGE_SOCKETS=" + more_variables_["HALCYON_MUNGE_SOCKETS"]);
}

TEST_F(coordinated_programs, wait_for_each_other) {
    more_variables_ = {{"HALCYON_COORDINATE_PAUSE_MS", "1000"}};  // A may lose its core for some time
    small_daemon daemon(by(policy::rule::fcfs), address());
    const auto has_to_wait = [&](const std::string& job) {
        for (const application_state& one : daemon.state().applications)
            if (one.job == name_of(job)) return seen(one.turn, one.state) == seen_state::waiting;
        return false;
    };
    const pid_t a = start("A", program("a 0 until " + marks()));
    ASSERT_TRUE(comes_true([&] { return daemon.counted().bytes_moved > 0; }, a));
    const pid_t b = start("B", program("b 100"));
    EXPECT_TRUE(comes_true([&] { return has_to_wait("B"); }, a));
    make_mark("end");
    EXPECT_EQ(end_of(a), 0);
    EXPECT_EQ(end_of(b), 0);
    for (const char* job : {"A", "B"}) {
        await_agents(job);
        EXPECT_EQ(facts_of(job, ".coordinate")["bytes_unasked"], 0) << job;
    }
    EXPECT_GT(facts_of("B", ".coordinate")["waited_ns"], 0);
    EXPECT_GE(daemon.counted().grants + daemon.counted().standing, 2U);
    EXPECT_EQ(daemon.counted().stalled_holders + daemon.counted().overdue_stops, 0U);
}

/// A holds a lock and loses its turn to B, which goes on to move while one of its threads waits for the lock. If A were
/// held back, both would wait until A starves.
TEST_F(coordinated_programs, that_hold_a_lock_go_on_when_they_lose_their_turn) {
    small_daemon daemon(by(policy::rule::interrupt), address());
    const pid_t a = start("A", program("file 20 lock " + marks()));
    const pid_t b = start("B", program("file 50 locked " + marks()));
    EXPECT_EQ(end_of(a), 0);
    EXPECT_EQ(end_of(b), 0);
    EXPECT_GT(facts_of("A", ".coordinate")["calls_let_locks"], 0);
    EXPECT_EQ(facts_of("A", ".coordinate")["calls_let_starving"], 0);
    EXPECT_EQ(facts_of("B", ".coordinate")["calls_let_starving"], 0);
}

/// What processes of a job said that could not take turns.
class programs_in_namespaces : public coordinated_programs {
  protected:
    [[nodiscard]] bool has_complained(const std::string& job, const std::string& about) const {
        for (const auto& entry : fs::directory_iterator(facts() / job)) {
            if (entry.path().extension() != ".uncoordinated") continue;
            std::ifstream in(entry.path());
            std::string line;
            if (std::getline(in, line) && line.find(about) != std::string::npos) return true;
        }
        return false;
    }
    [[nodiscard]] uintmax_t bytes_of(const std::string& file) const { return fs::file_size(scratch() / file); }
};

class programs_in_pid_namespaces : public programs_in_namespaces {
  protected:
    void SetUp() override {
        if (std::system("unshare --pid --fork --mount-proc true 2>/dev/null") != 0)
            GTEST_SKIP() << "this user may not make PID namespaces (unshare --pid)";
    }
};

TEST_F(programs_in_pid_namespaces, go_on_uncoordinated_and_say_so_where_the_agent_is_in_another_one) {
    small_daemon daemon(by(policy::rule::fcfs), address());
    const std::string apart = std::string("unshare --pid --fork --mount-proc ") + HALCYON_TEST_PROGRAM + " ";
    const std::string words = scratch().string() + "/";
    // The agent stays, and where it is, for as long as the shell.
    EXPECT_EQ(end_of(start("A", "echo >" + words + "kept; " + HALCYON_TEST_PROGRAM " " + words + "here 5; " + apart +
                                    words + "apart 5; " + HALCYON_TEST_PROGRAM " " + words + "again 5")),
              0);
    EXPECT_EQ(bytes_of("apart"), 5U << 20U);
    // unshare itself may find that /proc has been replaced below it.
    EXPECT_TRUE(has_complained("A", "the agent of this job on this node is in another PID namespace"));
    await_agents("A");
    EXPECT_EQ(facts_of("A", ".coordinate")["bytes"], (10 << 20) + 1);
    EXPECT_EQ(facts_of("A", ".agent")["files"], 1);
}

TEST_F(programs_in_pid_namespaces, go_on_uncoordinated_where_proc_numbers_processes_otherwise) {
    small_daemon daemon(by(policy::rule::fcfs), address());
    const std::string apart = std::string("unshare --pid --fork ") + HALCYON_TEST_PROGRAM + " ";
    EXPECT_EQ(end_of(start("A", "exec " + apart + scratch().string() + "/apart 5")), 0);
    EXPECT_EQ(bytes_of("apart"), 5U << 20U);
    EXPECT_TRUE(has_complained("A", "/proc is of another PID namespace"));
    EXPECT_EQ(facts_of("A", ".coordinate")["files"], 0);
}

class programs_in_time_namespaces : public programs_in_namespaces {
  protected:
    void SetUp() override {
        if (std::system("unshare --time --fork true 2>/dev/null") != 0)
            GTEST_SKIP() << "this user may not make time namespaces (unshare --time)";
    }
};

/// By the clock of the one that is ahead, the agent is always silent.
TEST_F(programs_in_time_namespaces, go_on_uncoordinated_and_say_so_where_the_agent_is_in_another_one) {
    small_daemon daemon(by(policy::rule::fcfs), address());
    const std::string apart =
        "unshare --time --monotonic 100000 --boottime 100000 --fork " + std::string(HALCYON_TEST_PROGRAM) + " ";
    const std::string words = scratch().string() + "/";
    // The agent stays, and where it is, for as long as the shell.
    EXPECT_EQ(end_of(start("A", "echo >" + words + "kept; " + HALCYON_TEST_PROGRAM " " + words + "here 5; " + apart +
                                    words + "apart 5; " + HALCYON_TEST_PROGRAM " " + words + "again 5")),
              0);
    EXPECT_EQ(bytes_of("apart"), 5U << 20U);
    EXPECT_TRUE(has_complained("A", "the agent of this job on this node is in another time namespace"));
    await_agents("A");
    EXPECT_EQ(facts_of("A", ".coordinate")["bytes"], (10 << 20) + 1);
    EXPECT_EQ(facts_of("A", ".coordinate")["bytes_unasked"], 0) << "of the others, nobody goes on unasked for it";
    EXPECT_EQ(facts_of("A", ".agent")["files"], 1);
}

TEST_F(coordinated_programs, go_on_unasked_where_there_is_no_coordinator) {
    patience_ms_ = "2000";
    EXPECT_EQ(end_of(start("A", program("a 2000"))), 0);
    await_agents("A");
    auto moved = facts_of("A", ".coordinate");
    EXPECT_EQ(moved["bytes_unasked"] + moved["bytes"], int64_t{2000} << 20);
    EXPECT_EQ(moved["bytes"], 0);
    EXPECT_LT(moved["waited_ns"], 20'000'000'000);
    EXPECT_LE(moved["calls_let_silent"], 1) << "it is not counted where the agent sees the silence first";
    EXPECT_EQ(facts_of("A", ".agent")["silences"], 1);
}

TEST_F(coordinated_programs, go_on_unasked_when_their_agent_is_stopped) {
    patience_ms_ = "2000";
    small_daemon daemon(by(policy::rule::fcfs), address());
    const pid_t a = start("A", program("a 0 until " + marks()));
    pid_t agent = 0;
    ASSERT_TRUE(comes_true([&] { return daemon.counted().bytes_moved > 0 && (agent = find_agent("A")) != 0; }, a));
    ::kill(agent, SIGSTOP);
    EXPECT_TRUE(moves_beyond_leases(a));
    make_mark("end");
    EXPECT_EQ(end_of(a), 0);
    ::kill(agent, SIGCONT);
    await_agents("A");
    auto moved = facts_of("A", ".coordinate");
    EXPECT_EQ(moved["calls_let_silent"], 1);
    EXPECT_GT(moved["bytes_unasked"], 0);
    EXPECT_EQ(moved["bytes"] + moved["bytes_unasked"], read_mark("wrote") << 20);
}

TEST_F(coordinated_programs, go_on_unasked_when_their_agent_is_killed) {
    patience_ms_ = "2000";
    small_daemon daemon(by(policy::rule::fcfs), address());
    const pid_t a = start("A", program("a 0 until " + marks()));
    pid_t agent = 0;
    ASSERT_TRUE(comes_true([&] { return daemon.counted().bytes_moved > 0 && (agent = find_agent("A")) != 0; }, a));
    ::kill(agent, SIGKILL);
    EXPECT_TRUE(moves_beyond_leases(a));
    make_mark("end");
    EXPECT_EQ(end_of(a), 0);
    EXPECT_EQ(facts_of("A", ".coordinate")["calls_let_silent"], 1);
}

TEST_F(coordinated_programs, give_their_turn_to_others_when_they_are_killed) {
    small_daemon daemon(by(policy::rule::fcfs), address());
    const pid_t a = start("A", program("a 0 until " + marks()));
    ASSERT_TRUE(comes_true([&] { return daemon.counted().bytes_moved > 0; }, a));
    const pid_t b = start("B", program("b 50"));
    ::kill(a, SIGKILL);
    end_of(a);
    EXPECT_EQ(end_of(b), 0);
    EXPECT_EQ(facts_of("B", ".coordinate")["bytes_unasked"], 0);
    EXPECT_EQ(facts_of("B", ".coordinate")["calls_let_starving"], 0);
    await_agents("A");
    EXPECT_GT(facts_of("A", ".coordinate")["bytes"], 0) << "their agent tells of them";
    EXPECT_EQ(facts_of("A", ".agent")["untold"], 0);
}

TEST_F(coordinated_programs, count_once_what_they_moved_before_they_became_others) {
    small_daemon daemon(by(policy::rule::fcfs), address());
    const std::string words = scratch().string() + "/";
    EXPECT_EQ(end_of(start("A", "echo >" + words + "0; exec " HALCYON_TEST_PROGRAM " " + words + "a 20")), 0);
    await_agents("A");
    EXPECT_EQ(facts_of("A", ".coordinate")["bytes"], (20 << 20) + 1);
    EXPECT_EQ(facts_of("A", ".coordinate")["files"], 1);
}

/// A handler of the parent may have forked in the middle of a call, which still looks at the parent's.
TEST_F(coordinated_programs, keep_the_pages_of_no_parents_but_one_in_a_chain_of_forks) {
    small_daemon daemon(by(policy::rule::fcfs), address());
    EXPECT_EQ(end_of(start("A", program("data 1 chain " + marks()))), 0);
    EXPECT_EQ(read_mark("pages"), 2);
    await_agents("A");
    EXPECT_EQ(facts_of("A", ".coordinate")["bytes"], 5 << 20);
    EXPECT_EQ(facts_of("A", ".coordinate")["files"], 5);
}

/// The layer starts at a process' first call, and forgets then what a program before has left in the page.
TEST_F(coordinated_programs, may_take_turns_by_themselves_before_their_first_call) {
    small_daemon daemon(by(policy::rule::fcfs), address());
    const std::string words = " " + scratch().string() + "/a " + marks();
    const pid_t a = start("A", std::string("exec ") + HALCYON_TEST_FIRST_CALL + words);
    ASSERT_TRUE(comes_true([&] { return fs::exists(marks() + ".released"); }, a)) << "its end: " << end_of(a);
    EXPECT_EQ(end_of(start("B", program("b 50"))), 0);
    make_mark("done");
    EXPECT_EQ(end_of(a), 0);
    EXPECT_EQ(facts_of("B", ".coordinate")["bytes_unasked"], 0);
    EXPECT_EQ(facts_of("A", ".coordinate")["bytes"], 1 << 20);
    EXPECT_EQ(daemon.counted().stalled_holders, 0U);
}

}  // namespace
}  // namespace halcyon::tests
