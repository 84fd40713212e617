// io.h in a process with threads and children, and what it says of a halcyon_io_info.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

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

class storage_targets_of_an_info : public testing::Test {
  protected:
    storage_targets_of_an_info() {
        ::unsetenv("HALCYON_COORDINATORS");
        ::unsetenv("HALCYON_COORDINATORS_FILE");
        EXPECT_EQ(halcyon_io_init(nullptr, "/scratch", &turns_), HALCYON_OK);
    }
    ~storage_targets_of_an_info() override { halcyon_io_finalize(&turns_); }
    int prepare(const uint32_t* targets, uint64_t count, uint64_t size_bytes = sizeof(halcyon_io_info)) {
        halcyon_io_info info{};
        info.size_bytes = size_bytes;
        info.targets = targets;
        info.target_count = count;
        return halcyon_io_prepare(turns_, &info);
    }
    [[nodiscard]] static std::string message() { return halcyon_io_error_message(); }

    halcyon_io_handle turns_ = nullptr;
};

TEST_F(storage_targets_of_an_info, are_refused_without_a_list) {
    EXPECT_EQ(prepare(nullptr, 3), HALCYON_ERROR_USAGE);
    EXPECT_EQ(message(), "halcyon_io_prepare: targets is a null pointer, and target_count is 3");
    EXPECT_EQ(prepare(nullptr, 0), HALCYON_OK);
}

/// What lies there is not of the struct.
TEST_F(storage_targets_of_an_info, are_none_where_the_program_knows_of_no_such_members) {
    const auto* const nowhere = reinterpret_cast<const uint32_t*>(uintptr_t{64});
    for (uint64_t bytes = offsetof(halcyon_io_info, targets); bytes < sizeof(halcyon_io_info); ++bytes)
        EXPECT_EQ(prepare(nowhere, 3, bytes), HALCYON_OK) << bytes;
}

TEST_F(storage_targets_of_an_info, are_all_where_there_are_more_than_are_told_of_a_process) {
    std::vector<uint32_t> many(HALCYON_IO_MAX_TARGETS);
    for (uint32_t i = 0; i < many.size(); ++i) many[i] = 1000 - i;
    many.insert(many.end(), 500, 7000);
    const std::string before = message();
    many[0] = 7000;
    EXPECT_EQ(prepare(many.data(), many.size()), HALCYON_OK);
    EXPECT_EQ(message(), before) << "as many as can be told are different";
    many[0] = 1000;
    EXPECT_EQ(prepare(many.data(), many.size()), HALCYON_OK);
    EXPECT_EQ(message(),
              "halcyon_io_prepare: 660 storage targets are more than the 160 that are told of a process: it counts as "
              "using all targets");
    EXPECT_EQ(prepare(many.data(), uint64_t{1} << 40U), HALCYON_OK) << "that many numbers are not read";
    EXPECT_EQ(message().find("halcyon_io_prepare: 1099511627776 storage targets are more than"), 0U) << message();
}

}  // namespace
}  // namespace halcyon::coordinate
