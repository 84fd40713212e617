#pragma once

#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "calls/backend_conformance/fixture.hpp"
#include "calls/backend_conformance/locks.hpp"

namespace halcyon::calls {

inline constexpr const char* key_variable = "HALCYON_TEST_KEY";

/// This very program again, for the case that runs now: the new program finds a handle's key in its environment.
/// Everything that it needs is there before it is forked: a child of vfork may do little.
class program_again {
  public:
    program_again(const std::string& state, uint64_t key) {
        const auto& test = *::testing::UnitTest::GetInstance()->current_test_info();
        arguments_ = {"backend_conformance",
                      "--gtest_filter=" + std::string(test.test_suite_name()) + "." + test.name()};
        for (char** entry = environ; *entry != nullptr; ++entry)
            if (std::string(*entry).rfind("GTEST_", 0) != 0) environment_.emplace_back(*entry);
        environment_.push_back(std::string(handed_over) + "=" + state);
        environment_.push_back(std::string(key_variable) + "=" + std::to_string(key));
        for (auto& argument : arguments_) argument_list_.push_back(argument.data());
        for (auto& variable : environment_) environment_list_.push_back(variable.data());
        argument_list_.push_back(nullptr);
        environment_list_.push_back(nullptr);
    }
    /// Returns where it cannot.
    int become() { return execve("/proc/self/exe", argument_list_.data(), environment_list_.data()); }

  private:
    std::vector<std::string> arguments_;
    std::vector<std::string> environment_;
    std::vector<char*> argument_list_;
    std::vector<char*> environment_list_;
};

TEST_P(backend_conformance, records_that_processes_append_stay_whole) {
    constexpr int processes = 4;
    constexpr int records = 100;
    constexpr size_t bytes = 40'000;
    opened_file file(backend(), path("a"), O_CREAT | O_RDWR | O_APPEND);
    std::vector<std::unique_ptr<child_process>> children;
    for (int number = 0; number < processes; ++number) {
        children.push_back(std::make_unique<child_process>(backend(), [&] {
            opened_file own(backend(), path("a"), O_WRONLY | O_APPEND);
            const std::string record(bytes, static_cast<char>('a' + number));
            int64_t last = -1;
            for (int i = 0; i < records; ++i) {
                int64_t at = 0;
                CHECK_IN_CHILD((i % 2 == 0 ? own : file).append(record, at) == static_cast<ssize_t>(bytes));
                CHECK_IN_CHILD(at > last && at % static_cast<int64_t>(bytes) == 0);
                last = at;
            }
            return 0;
        }));
    }
    for (const auto& child : children) EXPECT_EQ(child->result(), 0);
    ASSERT_EQ(file.size(), static_cast<int64_t>(processes * records * bytes));
    std::map<char, int> counts;
    for (int i = 0; i < processes * records; ++i) {
        const std::string record = file.read(bytes, static_cast<int64_t>(i * bytes));
        ASSERT_EQ(record, std::string(bytes, record[0])) << i;
        ++counts[record[0]];
    }
    for (const auto& [name, count] : counts) EXPECT_EQ(count, records) << name;
}

TEST_P(backend_conformance, a_child_has_its_parents_files) {
    put("a", "text");
    opened_file file(backend(), path("a"), O_RDWR);
    opened_file theirs(backend(), path("a"), O_RDWR);
    const signpost open_here;
    const signpost closed_there;
    child_process child(backend(), [&] {
        theirs.close();
        open_here.set();
        closed_there.wait();
        CHECK_IN_CHILD(file.read(10, 0) == "text");
        CHECK_IN_CHILD(file.write("more", 4) == 4);
        CHECK_IN_CHILD(file.read(10, 0) == "textmore");
        opened_file made(backend(), path("made"), O_CREAT | O_WRONLY);
        CHECK_IN_CHILD(made.write("by a child", 0) == 10);
        return 0;
    });
    open_here.wait();
    EXPECT_EQ(theirs.read(10, 0), "text") << "closed in the child only";
    EXPECT_EQ(unlink("a"), 0);
    file.close();
    theirs.close();
    struct statfs system {};
    EXPECT_EQ(backend().stat_system(system), 0);
    put("b", "other");
    closed_there.set();
    EXPECT_EQ(child.result(), 0);
    EXPECT_EQ(content("b"), "other");
    EXPECT_EQ(content("made"), "by a child");
}

TEST_P(backend_conformance, a_new_program_adopts_what_is_open) {
    if (!GetParam().hand_over) GTEST_SKIP() << "programs that are started cannot reach this backend";
    const char* const key = getenv(key_variable);
    if (key != nullptr) {  // the new program
        opened_file file(backend(), std::strtoull(key, nullptr, 10));
        ASSERT_EQ(file.result(), 0);
        EXPECT_EQ(file.read(10, 0), "text");
        EXPECT_EQ(file.write("answer", 4), 6);
        const struct stat state = file.stat();
        EXPECT_EQ(stat("a").st_ino, state.st_ino);
        return;
    }
    put("a", "text");
    opened_file file(backend(), path("a"), O_RDWR);
    program_again program(GetParam().hand_over(), backend().key_of(file.handle()));
    child_process child(backend(), [&] {
        backend().before_exec();
        return program.become();
    });
    EXPECT_EQ(child.result(), 0);
    EXPECT_EQ(file.read(20, 0), "textanswer");
}

TEST_P(backend_conformance, a_new_program_adopts_what_its_parent_closed_since) {
    if (!GetParam().hand_over) GTEST_SKIP() << "programs that are started cannot reach this backend";
    const char* const key = getenv(key_variable);
    if (key != nullptr) {  // the new program
        char byte = 0;
        ASSERT_EQ(::read(STDIN_FILENO, &byte, 1), 1);
        opened_file file(backend(), std::strtoull(key, nullptr, 10));
        ASSERT_EQ(file.result(), 0);
        EXPECT_EQ(file.read(10, 0), "text");
        return;
    }
    put("a", "text");
    opened_file file(backend(), path("a"), O_RDWR);
    program_again program(GetParam().hand_over(), backend().key_of(file.handle()));
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = vfork();
    if (child == 0) {
        dup2(ends[0], STDIN_FILENO);
        backend().before_exec();
        program.become();
        _exit(127);
    }
    EXPECT_EQ(file.read(10, 0), "text") << "the parent has it still";
    EXPECT_EQ(unlink("a"), 0);
    file.close();
    for (int i = 0; i < 200; ++i) {
        put("b", "other");
        EXPECT_EQ(unlink("b"), 0);
    }
    EXPECT_EQ(::write(ends[1], "x", 1), 1);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_P(backend_conformance, a_killed_process_takes_no_room) {
    if (!GetParam().small) GTEST_SKIP() << "this backend cannot be made to fill up";
    file_backend& small = GetParam().small();
    const std::string block(100'000, 'b');
    const auto fill = [&](opened_file& file) {
        int64_t written = 0;
        while (written < 1'000'000'000) {
            const ssize_t now = file.write(block, written);
            if (now < 0) break;
            written += now;
        }
        return written;
    };
    const signpost full;
    child_process child(small, [&] {
        opened_file file(small, "/lost", O_CREAT | O_RDWR);
        CHECK_IN_CHILD(small.unlink("/lost") == 0);
        CHECK_IN_CHILD(fill(file) > 1'000'000);
        full.set();
        for (;;) pause();
        return 0;
    });
    full.wait();
    opened_file file(small, "/found", O_CREAT | O_RDWR);
    EXPECT_EQ(fill(file), 0);
    child.kill();
    EXPECT_EQ(child.result(), -SIGKILL);
    EXPECT_GT(fill(file), 1'000'000);
    EXPECT_EQ(small.unlink("/found"), 0);
}

}  // namespace halcyon::calls
