// io.h in a process with threads and children.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "base/unix_socket.hpp"
#include "coordinate/page/job_identity.hpp"
#include "halcyon/io.h"

namespace halcyon::coordinate {
namespace {

/// A job whose agent listens, and does not answer.
class job_with_mute_agent : public testing::Test {
  protected:
    job_with_mute_agent() {
        ::setenv("HALCYON_JOB", ("mute-" + std::to_string(::getpid())).c_str(), 1);
        ::setenv("HALCYON_JOB_SECRET", "0123456789abcdef", 1);
        ::setenv("HALCYON_COORDINATORS", "/scratch=unix:/none", 1);
        ::setenv("HALCYON_AGENT", "/bin/true", 1);
        be_patient_for("60000");
        char name[100] = {};
        job_identity::of_environment().name_socket(name, sizeof name);
        listening_ = listen_abstract(name, 4).value();
    }
    static void be_patient_for(const char* ms) { ::setenv("HALCYON_COORDINATE_PATIENCE_MS", ms, 1); }
    static int init() {
        halcyon_io_handle made = nullptr;
        return halcyon_io_init(nullptr, "/scratch", &made);
    }

    descriptor listening_;
};

TEST_F(job_with_mute_agent, does_not_keep_a_child_waiting_that_was_forked_off_while_another_thread_waits_for_it) {
    std::thread waits([] { EXPECT_EQ(init(), HALCYON_OK); });
    descriptor asks = accept_checked(listening_.get()).value();
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(30);
        be_patient_for("1");
        ::_exit(init());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, HALCYON_OK);
    asks = descriptor();
    waits.join();
}

}  // namespace
}  // namespace halcyon::coordinate
