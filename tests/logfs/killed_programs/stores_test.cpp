// The index of a log lies in a mapped file: the stores into it are no system calls. The program is stopped at each of
// its instructions, and wherever the index has changed, others look at what is there: as they would find it if it was
// killed at that instruction.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "logged_program.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;

/// The beginning of an index dropping, in which the program stores: its head and the first block.
class watched_index {
  public:
    explicit watched_index(const std::string& container) {
        for (const auto& each : fs::recursive_directory_iterator(container))
            if (each.path().filename().string().starts_with("index.")) path_ = each.path();
        const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
        void* const mapped = fd < 0 ? MAP_FAILED : ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
        ::close(fd);
        if (mapped != MAP_FAILED) now_ = static_cast<const char*>(mapped);
    }
    ~watched_index() {
        if (now_ != nullptr) ::munmap(const_cast<char*>(now_), bytes);
    }
    watched_index(const watched_index&) = delete;
    watched_index& operator=(const watched_index&) = delete;

    [[nodiscard]] bool is_there() const { return now_ != nullptr; }
    /// Since it was asked last.
    bool has_changed() {
        if (std::memcmp(now_, before_, bytes) == 0) return false;
        std::memcpy(before_, now_, bytes);
        return true;
    }

  private:
    static constexpr size_t bytes = 8192;

    std::string path_;
    const char* now_ = nullptr;
    char before_[bytes] = {};
};

/// Where the program is: it stops when it is started, with each signal that it gets, and behind single instructions.
class stopped_program {
  public:
    explicit stopped_program(tests::logged_program& what) : pid_(::fork()) {
        if (pid_ == 0) {
            ::ptrace(PTRACE_TRACEME, 0, 0, 0);
            ::raise(SIGSTOP);
            what.become("write");
        }
        ::waitpid(pid_, &status_, 0);
        ::ptrace(PTRACE_SETOPTIONS, pid_, 0, PTRACE_O_EXITKILL);
    }
    ~stopped_program() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    stopped_program(const stopped_program&) = delete;
    stopped_program& operator=(const stopped_program&) = delete;

    /// False: it has ended.
    bool go_on_to_signal(int signal) {
        while (go_on(PTRACE_CONT)) {
            if (WSTOPSIG(status_) == signal) return true;
        }
        return false;
    }
    /// False: it has ended, or got the signal.
    bool make_instruction(int unless_signal) { return go_on(PTRACE_SINGLESTEP) && WSTOPSIG(status_) != unless_signal; }
    [[nodiscard]] bool is_there() const { return WIFSTOPPED(status_); }

  private:
    bool go_on(__ptrace_request how) {
        return ::ptrace(how, pid_, 0, 0) == 0 && ::waitpid(pid_, &status_, 0) == pid_ && is_there();
    }

    pid_t pid_;
    int status_ = 0;
};

TEST(stopped_program, shows_all_that_a_call_returned_between_any_two_stores) {
    tests::logged_program on({.name = "in_the_container"});
    stopped_program program(on);
    ASSERT_TRUE(program.go_on_to_signal(SIGUSR1));
    ASSERT_EQ(on.returned(), tests::steps_before_stores);
    watched_index index(on.folder_path + "/f");
    ASSERT_TRUE(index.is_there());
    index.has_changed();
    int looks = 0;
    while (program.make_instruction(SIGUSR1)) {
        if (!index.has_changed()) continue;
        ++looks;
        on.expect_returned();
        ASSERT_FALSE(HasFailure()) << "at change " << looks << " of the index";
    }
    ASSERT_TRUE(program.is_there());
    EXPECT_EQ(on.returned(), tests::steps_of_one_file);
    on.expect_returned();
    EXPECT_GT(looks, 100) << "the test shows nothing";
}

}  // namespace
}  // namespace halcyon::logfs
