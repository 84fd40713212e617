// Two programs, in C and in Fortran, that take turns at one real coordinator: each checks what halcyon_io_status tells
// it of the other one (told_turns.c).
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/line_socket/child_process.hpp"
#include "temporary_folder.hpp"

namespace halcyon::tests {
namespace {

/// Does not come back.
int become(std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execv(arguments.front(), arguments.data());
    return 127;
}

bool answers(const std::string& path) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::strncpy(at.sun_path, path.c_str(), sizeof at.sun_path - 1);
    const int asked = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool connected = ::connect(asked, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
    ::close(asked);
    return connected;
}

class told_turns : public testing::Test {
  protected:
    told_turns() {
        std::filesystem::create_directory(scratch());
        // No time of these runs out on a busy machine.
        std::ofstream(config()) << "halcyon: 1\ncoordinators:\n  scratch:\n    paths: [\"" << scratch()
                                << "\"]\n    address: \"unix:" << socket()
                                << "\"\n    policy: fcfs\n    bounds: {starvation: \"10 min\"}\n"
                                   "    times: {dead: \"10 s\", stalled: \"10 min\", relearn: \"100 ms\"}\n";
    }
    [[nodiscard]] std::string scratch() const { return folder_.file("scratch"); }
    [[nodiscard]] std::string config() const { return folder_.file("coordinators.yaml"); }
    [[nodiscard]] std::string socket() const { return folder_.file("socket"); }
    /// Agents of other tests may be about to end.
    [[nodiscard]] std::string job(const std::string& name) const {
        return name + "-" + folder_.path().filename().string();
    }

    [[nodiscard]] auto coordinator() const {
        return [this] { return become({HALCYON_TEST_COORDINATOR, "--config", config()}); };
    }
    [[nodiscard]] auto program(const std::string& path, const std::string& name,
                               const std::vector<std::string>& does) const {
        return [=, this] {
            for (const char* variable : {"HALCYON_COORDINATORS", "HALCYON_COORDINATORS_FILE", "HALCYON_TRACE_DIR"})
                ::unsetenv(variable);
            ::setenv("HALCYON_JOB", job(name).c_str(), 1);
            ::setenv("HALCYON_JOB_SECRET", ("a secret of the job " + name).c_str(), 1);
            ::setenv("HALCYON_AGENT", HALCYON_TEST_AGENT, 1);
            ::setenv("HALCYON_COORDINATE_PATIENCE_MS", "20000", 1);
            std::vector<std::string> words = {path, config(), scratch() + "/file", folder_.file("mark")};
            words.insert(words.end(), does.begin(), does.end());
            return become(words);
        };
    }

    void expect_told(const std::string& holder, const std::string& asker) const {
        expect_well(holder, asker, {"asks", job("A")});
    }
    /// What the other one does while the holder has its turn.
    void expect_well(const std::string& holder, const std::string& other, const std::vector<std::string>& does) const {
        child_process giver(coordinator());
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!answers(socket())) {
            ASSERT_LT(std::chrono::steady_clock::now(), until) << "the coordinator does not listen";
            ::usleep(1000);
        }
        child_process holds(program(holder, "A", {"holds"}));
        child_process comes(program(other, "B", does));
        EXPECT_EQ(comes.exit_status(), 0);
        EXPECT_EQ(holds.exit_status(), 0);
    }

  private:
    temporary_folder folder_;
};

TEST_F(told_turns, are_known_in_c) {
    expect_told(HALCYON_TEST_C, HALCYON_TEST_C);
}

TEST_F(told_turns, are_taken_side_by_side_on_other_storage_targets_in_c) {
    expect_well(HALCYON_TEST_C, HALCYON_TEST_C, {"beside"});
}

#ifdef HALCYON_TEST_FORTRAN
TEST_F(told_turns, are_taken_side_by_side_on_other_storage_targets_in_fortran_and_c) {
    expect_well(HALCYON_TEST_C, HALCYON_TEST_FORTRAN, {"beside"});
}

TEST_F(told_turns, are_taken_side_by_side_on_other_storage_targets_in_c_and_fortran) {
    expect_well(HALCYON_TEST_FORTRAN, HALCYON_TEST_C, {"beside"});
}

TEST_F(told_turns, are_known_in_fortran_of_a_job_in_c) {
    expect_told(HALCYON_TEST_C, HALCYON_TEST_FORTRAN);
}

TEST_F(told_turns, are_known_in_c_of_a_job_in_fortran) {
    expect_told(HALCYON_TEST_FORTRAN, HALCYON_TEST_C);
}
#endif

}  // namespace
}  // namespace halcyon::tests
