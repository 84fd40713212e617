#include "logfs/background/agent.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "file_text.hpp"
#include "logfs/background/attended_container.hpp"
#include "logfs/background/find_containers.hpp"
#include "logfs/background/pace.hpp"
#include "logfs/container/log_file.hpp"
#include "plain_file.hpp"
#include "staged_file.hpp"
#include "temporary_folder.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using names = std::vector<std::string>;
using tests::as_bytes;
using tests::file_text;

/// Notes who asked for which bytes.
class noted_turns final : public turn {
  public:
    std::vector<std::string> noted;

    [[nodiscard]] int64_t delay_ns(int64_t) const override { return 0; }
    [[nodiscard]] std::unique_ptr<stay> begin(const std::string& directory, int64_t bytes) override {
        noted.push_back(directory + " " + std::to_string(bytes));
        return std::make_unique<noted_stay>(*this);
    }
    [[nodiscard]] std::vector<std::string> take_remarks() override { return {}; }

  private:
    class noted_stay final : public stay {
      public:
        explicit noted_stay(noted_turns& of) : of_(of) {}
        ~noted_stay() override { of_.noted.emplace_back("end"); }
        void next(int64_t bytes) override { of_.noted.push_back(std::to_string(bytes)); }
        [[nodiscard]] int64_t waited_ns() const override { return 0; }
        [[nodiscard]] int64_t unasked_bytes() const override { return 0; }

      private:
        noted_turns& of_;
    };
};

class log_agent : public ::testing::Test {
  protected:
    log_agent() {
        how_.roots = {folder_.path()};
        how_.flattens = true;
        how_.patience_ns = 0;
    }
    void make(const std::string& name, std::string_view text) {
        log_file file;
        opening how;
        how.may_write = how.creates = true;
        file.open(folder_.file(name), writer_identity::of_this_process(), how).value();
        file.write(0, as_bytes(text)).value();
        file.close().value();
    }
    agent_report run() {
        watched_process none(0);
        return run_agent(how_, none, turns_);
    }

    halcyon::tests::temporary_folder folder_;
    agent_settings how_;
    noted_turns turns_;
};

TEST_F(log_agent, makes_plain_files_of_what_nobody_has_open) {
    fs::create_directory(folder_.file("inner"));
    make("one", "1");
    make("inner/two", "22");
    std::ofstream(folder_.file("plain")) << "plain";
    make("open", "333");
    log_file open;
    opening saying;
    saying.says_open = true;
    open.open(folder_.file("open"), writer_identity::of_this_process(), saying).value();
    how_.report_file = folder_.file("report");
    const agent_report done = run();
    EXPECT_EQ(done.flattened, 2U);
    EXPECT_EQ(done.flattened_bytes, 3);
    EXPECT_EQ(file_text(folder_.file("one")), "1");
    EXPECT_EQ(file_text(folder_.file("inner/two")), "22");
    EXPECT_EQ(file_text(folder_.file("plain")), "plain");
    EXPECT_TRUE(fs::is_directory(folder_.file("open")));
    ASSERT_EQ(done.left.size(), 1U);
    EXPECT_NE(done.left[0].find("a process has it open"), std::string::npos) << done.left[0];
    EXPECT_NE(file_text(how_.report_file).find("a process has it open"), std::string::npos);
    open.close().value();
    EXPECT_EQ(run().flattened, 1U);
    EXPECT_EQ(file_text(folder_.file("open")), "333");
}

/// Writers look for what they have replaced of their own data only.
TEST_F(log_agent, gives_back_what_other_writers_have_replaced) {
    how_.flattens = false;
    const std::string path = folder_.file("one");
    const std::string before(8 << 20, 'x');
    const std::string after(8 << 20, 'y');
    for (const std::string& text : {before, after}) {
        log_file file;
        opening how;
        how.may_write = how.creates = true;
        file.open(path, writer_identity::of_this_process(), how).value();
        file.write(0, as_bytes(text)).value();
        file.sync().value();
        file.close().value();
    }
    container one;
    one.open(path).value();
    ASSERT_GE(room_of_data(one), 16 << 20);
    run();
    EXPECT_LT(room_of_data(one), 9 << 20);
    log_file file;
    file.open(path, writer_identity::of_this_process(), {}).value();
    std::string text(after.size(), ' ');
    file.read(0, std::as_writable_bytes(std::span(text))).value();
    EXPECT_TRUE(text == after);
}

TEST_F(log_agent, asks_for_the_turn_of_the_file_system_at_each_piece) {
    make("one", std::string(5'000'000, 'x'));
    run();
    ASSERT_GE(turns_.noted.size(), 4U);
    EXPECT_EQ(turns_.noted.front(), folder_.path().string() + " 5000000");
    EXPECT_EQ(turns_.noted.back(), "end");
    int64_t asked = 0;
    for (size_t i = 1; i + 1 < turns_.noted.size(); ++i) asked += std::stoll(turns_.noted[i]);
    EXPECT_EQ(asked, 5'000'000);
}

TEST_F(log_agent, waits_for_what_is_open_while_the_job_runs) {
    how_.quiet_ns = 0;
    make("file", "text");
    int go[2];
    int is_open[2];
    ASSERT_EQ(pipe(go), 0);
    ASSERT_EQ(pipe(is_open), 0);
    const pid_t job = fork();
    if (job == 0) {
        ::close(go[1]);
        log_file open;
        opening saying;
        saying.says_open = saying.may_write = true;
        open.open(folder_.file("file"), writer_identity::of_this_process(), saying).value();
        char byte = 'x';
        if (::write(is_open[1], &byte, 1) != 1 || ::read(go[0], &byte, 1) != 1) _exit(1);
        open.write(4, as_bytes(" and more")).value();
        open.close().value();
        // The agent is seen to do it while the job runs.
        while (!fs::is_regular_file(folder_.file("file"))) ::usleep(1000);
        _exit(0);
    }
    watched_process of(job);
    char byte = 0;
    ASSERT_EQ(::read(is_open[0], &byte, 1), 1);
    ASSERT_EQ(::write(go[1], "x", 1), 1);
    const agent_report done = run_agent(how_, of, turns_);
    int status = 0;
    ASSERT_EQ(waitpid(job, &status, 0), job);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(done.flattened, 1U);
    EXPECT_EQ(file_text(folder_.file("file")), "text and more");
}

TEST_F(log_agent, leaves_alone_what_was_written_a_moment_ago) {
    how_.quiet_ns = int64_t{3600} * 1'000'000'000;
    make("file", "text");
    const pid_t job = fork();
    if (job == 0) {
        ::usleep(1'500'000);
        _exit(fs::is_directory(folder_.file("file")) ? 0 : 1);
    }
    watched_process of(job);
    EXPECT_EQ(run_agent(how_, of, turns_).flattened, 1U) << "when the job has ended, nobody is waited for";
    int status = 0;
    ASSERT_EQ(waitpid(job, &status, 0), job);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(log_agent, goes_on_with_what_another_one_was_killed_in) {
    for (int i = 0; i < 6; ++i) make("file" + std::to_string(i), std::string(300'000, static_cast<char>('a' + i)));
    for (int round = 0; round < 30; ++round) {
        const pid_t child = fork();
        if (child == 0) {
            run();
            _exit(0);
        }
        ::usleep(static_cast<useconds_t>(round * 200));
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
    run();
    names all;
    for (int i = 0; i < 6; ++i) {
        all.push_back("file" + std::to_string(i));
        EXPECT_EQ(file_text(folder_.file(all.back())), std::string(300'000, static_cast<char>('a' + i)));
    }
    EXPECT_EQ(folder_.names(), all);
}

TEST_F(log_agent, writes_no_faster_than_it_may) {
    make("file", std::string(12 << 20, 'x'));
    how_.bytes_per_s = 20 << 20;
    const int64_t before_ns = monotonic_ns();
    EXPECT_EQ(run().flattened, 1U);
    // Of three pieces, the first one is free.
    EXPECT_GE(monotonic_ns() - before_ns, 380'000'000);
}

TEST(log_agent_of_a_node, brings_and_then_flattens) {
    const tests::staged_file file;
    container in;
    in.create(file.path, 0644, 4).value();
    {
        writer to(in);
        to.open(writer_identity::of_this_process(), file.staging()).value();
        to.write(0, as_bytes("text")).value();
        to.close().value();
    }
    agent_settings how;
    how.roots = {file.shared};
    how.stage = file.stage;
    how.patience_ns = 0;
    watched_process none(0);
    noted_turns turns;
    const agent_report done = run_agent(how, none, turns);
    EXPECT_EQ(done.brought_bytes, 4);
    EXPECT_EQ(file.read_elsewhere().text, "text");
    EXPECT_EQ(file.on_node(), names{});
    ASSERT_EQ(turns.noted.size(), 3U);
    EXPECT_TRUE(turns.noted[0].starts_with(file.path + "/hostdir.")) << turns.noted[0];  // which may be a link
    EXPECT_TRUE(turns.noted[0].ends_with(" 4")) << turns.noted[0];
    EXPECT_EQ((names{turns.noted[1], turns.noted[2]}), (names{"4", "end"}));
    how.flattens = true;
    EXPECT_EQ(run_agent(how, none, turns).flattened, 1U);
    EXPECT_EQ(file_text(file.path), "text");
}

TEST(log_agent_of_a_node, is_one_at_a_time_and_stays_while_it_is_needed) {
    const halcyon::tests::temporary_folder folder;
    const std::string file = folder.file("lock");
    watched_users agent;
    ASSERT_TRUE(watched_users::take(agent, file).ok());
    watched_users second;
    const auto refused = watched_users::take(second, file);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.why().system_errno, EBUSY);
    EXPECT_TRUE(agent.has_ended());
    const int user = kernel_files().open_at(AT_FDCWD, file.c_str(), O_RDWR, 0);
    ASSERT_EQ(kernel_files().lock_part(user, place_of_users, 1, false, false), 0);
    EXPECT_FALSE(agent.has_ended());
    EXPECT_FALSE(agent.keep_others_out());
    ::close(user);
    EXPECT_TRUE(agent.keep_others_out());
    const int late = kernel_files().open_at(AT_FDCWD, file.c_str(), O_RDWR, 0);
    EXPECT_EQ(kernel_files().lock_part(late, place_of_users, 1, false, false), -EAGAIN);
    agent.let_come();
    EXPECT_EQ(kernel_files().lock_part(late, place_of_users, 1, false, false), 0);
    ::close(late);
}

TEST(pace_of_an_agent, rests_for_thirty_times_as_long_as_a_round_took) {
    constexpr int64_t ms = 1'000'000;
    EXPECT_EQ(rest_behind(0), 500 * ms);
    EXPECT_EQ(rest_behind(16 * ms), 500 * ms);
    EXPECT_EQ(rest_behind(100 * ms), 3000 * ms);
    EXPECT_EQ(rest_behind(20'000 * ms), 600'000 * ms);
    EXPECT_EQ(rest_behind(INT64_MAX), 600'000 * ms);
}

/// Which takes its time, as where there are many containers.
class slow_turns final : public turn {
  public:
    explicit slow_turns(int64_t of_ns) : of_ns_(of_ns) {}

    [[nodiscard]] int64_t delay_ns(int64_t) const override { return 0; }
    [[nodiscard]] std::unique_ptr<stay> begin(const std::string&, int64_t) override {
        const int64_t end_ns = monotonic_ns() + of_ns_;
        while (monotonic_ns() < end_ns) {
        }
        return nullptr;
    }
    [[nodiscard]] std::vector<std::string> take_remarks() override { return {}; }

  private:
    int64_t of_ns_;
};

/// Notes for how long it is waited for, and ends then.
class noted_job final : public watched_job {
  public:
    std::vector<int64_t> waits;

    [[nodiscard]] bool has_ended() override { return !waits.empty(); }
    bool wait(int64_t longest_ns) override {
        waits.push_back(longest_ns);
        return true;
    }
};

TEST_F(log_agent, rests_longer_behind_rounds_that_take_long) {
    constexpr int64_t round_ns = 40'000'000;
    make("one", "1");
    container of;
    of.open(folder_.file("one")).value();
    // Somebody else is at it.
    const std::string beside = folder_.file(".halcyon-flattened-" + std::to_string(of.id()));
    const int other = ::open(beside.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(::flock(other, LOCK_EX), 0);
    how_.quiet_ns = 0;
    noted_job job;
    slow_turns turns(round_ns);
    EXPECT_EQ(run_agent(how_, job, turns).flattened, 0U);
    ::close(other);
    ASSERT_FALSE(job.waits.empty());
    EXPECT_GE(job.waits[0], 30 * round_ns);
}

TEST_F(log_agent, names_so_many_containers_that_are_left_alone_and_counts_the_rest) {
    constexpr int many = 1003;
    for (int number = 0; number < many; ++number)
        fs::create_directories(folder_.file("d" + std::to_string(number) + "/hostdir.0"));
    for (int number = 0; number < many; ++number)
        std::ofstream(folder_.file("d" + std::to_string(number) + "/halcyon-container")) << "damaged";
    how_.report_file = folder_.file("report");
    EXPECT_EQ(run().left.size(), size_t{many});
    const std::string report = file_text(how_.report_file);
    EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 1002);
    EXPECT_NE(report.find("\nand 3 more\n"), std::string::npos);
}

TEST(found_containers, are_all_but_those_on_their_way_away) {
    const halcyon::tests::temporary_folder folder;
    const auto make = [&](const std::string& name) {
        container made;
        made.create(folder.file(name), 0644).value();
    };
    fs::create_directories(folder.file("a/b"));
    make("a/b/two");
    make("one");
    make(".halcyon-removed-1");
    fs::create_directory(folder.file("a/.halcyon-flattened-9"));
    fs::create_directory_symlink(folder.file("a"), folder.file("link"));
    const found_containers found = find_containers(folder.path());
    EXPECT_EQ(found.paths, (names{folder.file("a/b/two"), folder.file("one")}));
    EXPECT_EQ(found.hidden, (names{folder.file(".halcyon-removed-1")}));
    EXPECT_EQ(found.folders, (names{folder.file("a")}));
    EXPECT_TRUE(found.is_whole);
    EXPECT_EQ(find_containers(folder.file("one")).paths, (names{folder.file("one")}));
}

}  // namespace
}  // namespace halcyon::logfs
