// What an application is called, by the environment of its processes.
#include "coordinate/page/job_identity.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace halcyon::coordinate {
namespace {

std::string name_with(const std::map<std::string, std::string>& variables) {
    for (const char* one :
         {"HALCYON_AGENT_JOB", "PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID", "HALCYON_JOB", "HALCYON_JOB_SECRET"})
        ::unsetenv(one);
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    return job_identity::of_environment().name;
}

TEST(job_identity, a_step_of_slurm_is_named_after_its_job) {
    EXPECT_EQ(name_with({{"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "3"}, {"HALCYON_JOB", "c1.77.ab"}}), "slurm-12.3");
}

TEST(job_identity, launches_of_mpi_within_a_job_of_slurm_are_named_after_the_job) {
    const std::string name = name_with({{"SLURM_JOB_ID", "12"}, {"PMIX_NAMESPACE", "slurm.pmix.12.3"}});
    EXPECT_TRUE(name.starts_with("slurm-12.slurm.pmix.12.3-")) << name;
    EXPECT_TRUE(name_with({{"PMIX_NAMESPACE", "prterun-77"}}).starts_with("prterun-77-"));
}

TEST(job_identity, commands_of_one_batch_script_are_told_apart) {
    EXPECT_EQ(name_with({{"SLURM_JOB_ID", "12"}, {"HALCYON_JOB", "c1.77.ab"}}), "slurm-12.c1.77.ab");
    EXPECT_EQ(name_with({{"HALCYON_JOB", "c1.77.ab"}}), "c1.77.ab");
}

TEST(job_identity, the_longest_names_keep_the_number_of_the_job) {
    const std::string name = name_with({{"SLURM_JOB_ID", "4294967295"}, {"PMIX_NAMESPACE", std::string(500, 'n')}});
    EXPECT_TRUE(name.starts_with("slurm-4294967295.nnn")) << name;
    EXPECT_EQ(name.size(), 6 + 10 + 1 + 80 + 1 + 16U);
}

std::map<std::string, std::string> run(const std::string& name, std::map<std::string, std::string> others = {}) {
    others.insert({{"HALCYON_JOB", name}, {"HALCYON_JOB_SECRET", "a secret of " + name}});
    return others;
}

TEST(name_of_run, is_that_of_the_run) {
    EXPECT_EQ(name_with(run("node.7.ab")), "node.7.ab");
}

TEST(name_of_run, tells_two_runs_in_one_job_of_slurm_apart) {
    EXPECT_EQ(name_with(run("node.7.ab", {{"SLURM_JOB_ID", "12"}})), "slurm-12.node.7.ab");
    EXPECT_EQ(name_with(run("node.8.cd", {{"SLURM_JOB_ID", "12"}})), "slurm-12.node.8.cd");
    EXPECT_EQ(name_with(run("node.8.cd", {{"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "3"}})), "slurm-12.node.8.cd-3");
}

TEST(name_of_run, tells_two_runs_under_one_launch_of_pmix_apart) {
    const std::string one = name_with(run("node.7.ab", {{"PMIX_NAMESPACE", "prterun-1"}}));
    const std::string other = name_with(run("node.8.cd", {{"PMIX_NAMESPACE", "prterun-1"}}));
    EXPECT_TRUE(one.starts_with("node.7.ab-")) << one;
    EXPECT_NE(one, other);
}

TEST(name_of_run, tells_launches_of_one_run_apart) {
    const std::string one = name_with(run("node.7.ab", {{"PMIX_NAMESPACE", "prterun-1"}}));
    EXPECT_NE(one, name_with(run("node.7.ab", {{"PMIX_NAMESPACE", "prterun-2"}})));
    EXPECT_EQ(one, name_with(run("node.7.ab", {{"PMIX_NAMESPACE", "prterun-1"}})));
}

TEST(name_of_run, keeps_the_launch_where_all_names_are_long) {
    const std::string job(30, '4'), long_name(200, 'n');
    const std::string one = name_with(run(long_name, {{"SLURM_JOB_ID", job}, {"PMIX_NAMESPACE", "prterun-1"}}));
    EXPECT_NE(one, name_with(run(long_name, {{"SLURM_JOB_ID", job}, {"PMIX_NAMESPACE", "prterun-2"}})));
    EXPECT_EQ(one.size(), 6 + 20 + 1 + 64 + 1 + 16U);
}

TEST(name_of_run, counts_only_together_with_a_secret) {
    EXPECT_EQ(name_with({{"HALCYON_JOB", "node.7.ab"}, {"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "3"}}), "slurm-12.3");
}

}  // namespace
}  // namespace halcyon::coordinate
