// The layer `prefetch` in real processes (programs/reading.c): what is in memory before it is read, and what is
// counted.
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "predict/predicted_run.hpp"

namespace halcyon::tests {
namespace {

/// Whether it pays is a matter of times.
constexpr const char* always = "HALCYON_PREFETCH_ALWAYS=1";

struct prefetch_test : testing::Test {
    void SetUp() override {
        struct statfs of {};
        if (statfs(files.path().c_str(), &of) != 0 || of.f_type == TMPFS_MAGIC)
            GTEST_SKIP() << files.path() << " is in memory: nothing can be read ahead (set TMPDIR)";
    }
    predicted_run run(const std::string& pattern, const std::string& environment = always,
                      const std::string& layers = "predict,prefetch") {
        predicted_run found =
            run_predicted(HALCYON_TEST_PROGRAM " " + pattern + " " + files.path().string(), environment, layers);
        EXPECT_EQ(found.status, 0) << found.output;
        EXPECT_TRUE(found.output.ends_with("right\n") || found.output == "no cachestat\n") << found.output;
        return found;
    }
    temporary_folder files;
};

long number(const std::map<std::string, std::string>& facts, const std::string& key) {
    return std::stol(facts.at("prefetch_" + key));
}

struct seen {
    int before, other, most;
};
const char* const no_cachestat = "before Linux 6.5 nobody tells what is in memory";
bool is_observed(const predicted_run& found) {
    return found.output != "no cachestat\n";
}
seen seen_in(const predicted_run& found) {
    seen numbers{};
    EXPECT_EQ(std::sscanf(found.output.c_str(), "in memory before: %d of 160, of what is not read: %d, most ahead: %d",
                          &numbers.before, &numbers.other, &numbers.most),
              3)
        << found.output;
    return numbers;
}

TEST_F(prefetch_test, what_is_read_next_is_in_memory_before_but_for_the_control) {
    for (const char* pattern : {"strided", "backward"}) {
        const predicted_run found = run(pattern);
        if (!is_observed(found)) GTEST_SKIP() << no_cachestat;
        const auto& facts = found.ended("exit");
        const seen numbers = seen_in(found);
        EXPECT_GE(numbers.before, 130) << pattern;
        EXPECT_LT(numbers.before, 160) << pattern;
        EXPECT_EQ(numbers.other, 0) << pattern;
        EXPECT_GE(number(facts, "control"), 1);
        EXPECT_GE(number(facts, "predicted"), 180);
        EXPECT_EQ(number(facts, "unexpected"), 0);
        EXPECT_EQ(number(facts, "failed"), 0);
    }
}

TEST_F(prefetch_test, no_more_is_ahead_than_the_limit) {
    const predicted_run found = run("strided", std::string(always) + " HALCYON_PREFETCH_BYTES=65536");
    if (!is_observed(found)) GTEST_SKIP() << no_cachestat;
    const seen numbers = seen_in(found);
    EXPECT_GE(numbers.before, 130);
    EXPECT_LE(numbers.most, 4);
    EXPECT_GT(number(found.ended("exit"), "limited"), 0);
}

TEST_F(prefetch_test, nothing_is_asked_for_that_is_not_sure) {
    const predicted_run found = run("unobserved", "HALCYON_PREFETCH_PERCENT=100");
    EXPECT_EQ(number(found.ended("exit"), "asked"), 0);
    EXPECT_GT(number(found.ended("exit"), "unsure"), 0);
}

TEST_F(prefetch_test, random_reads_are_left_alone) {
    const predicted_run found = run("random");
    const auto& facts = found.ended("exit");
    EXPECT_EQ(number(facts, "asked"), 0);
    EXPECT_GT(number(facts, "off_nothing"), 0);
    EXPECT_GT(number(facts, "reads_off"), 0);
}

TEST_F(prefetch_test, reads_past_the_page_cache_are_left_alone) {
    const predicted_run found = run("direct");
    EXPECT_EQ(number(found.ended("exit"), "asked"), 0);
    EXPECT_GT(number(found.ended("exit"), "unfit"), 0);
}

TEST(prefetch_in_memory_test, files_in_memory_are_left_alone) {
    struct statfs of {};
    if (statfs("/dev/shm", &of) != 0 || of.f_type != TMPFS_MAGIC) GTEST_SKIP() << "/dev/shm is no tmpfs";
    const std::string folder = "/dev/shm/halcyon-prefetch-" + std::to_string(getpid());
    std::filesystem::create_directory(folder);
    const predicted_run found = run_predicted(HALCYON_TEST_PROGRAM " unobserved " + folder, "A=0", "predict,prefetch");
    std::filesystem::remove_all(folder);
    EXPECT_EQ(found.output, "right\n");
    EXPECT_EQ(number(found.ended("exit"), "asked"), 0);
    EXPECT_GT(number(found.ended("exit"), "unfit"), 0);
}

TEST_F(prefetch_test, files_that_change_meanwhile_are_read_as_they_are) {
    const predicted_run found = run("meanwhile");
    EXPECT_EQ(found.output, "right\n");
    EXPECT_GT(number(found.ended("exit"), "asked"), 0);
}

TEST_F(prefetch_test, threads_have_their_own) {
    const predicted_run found = run("threads");
    EXPECT_EQ(found.output, "right\n");
    EXPECT_EQ(number(found.ended("exit"), "reads"), 4 * 4 * 256);
    EXPECT_GT(number(found.ended("exit"), "asked"), 0);
}

TEST_F(prefetch_test, what_is_there_already_is_left_alone) {
    const predicted_run found = run("threads", std::string(always) + " HALCYON_PREFETCH_BYTES=1048576");
    EXPECT_GT(number(found.ended("exit"), "off_cached"), 0);
}

TEST_F(prefetch_test, a_forked_child_begins_anew) {
    const predicted_run found = run("fork");
    ASSERT_EQ(found.processes.size(), 2U);
    for (const auto& facts : found.processes) {
        EXPECT_EQ(number(facts, "reads"), 256);
        EXPECT_GT(number(facts, "asked"), 0);
    }
}

TEST_F(prefetch_test, without_the_layer_nothing_is_asked_for_and_the_bytes_are_the_same) {
    const predicted_run found = run("unobserved", "A=0", "predict");
    EXPECT_EQ(found.output, "right\n");
    EXPECT_FALSE(found.ended("exit").contains("prefetch_asked"));
}

}  // namespace
}  // namespace halcyon::tests
