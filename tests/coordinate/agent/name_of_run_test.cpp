// Which processes are one application, by their environment, where `halcyon run` has set a name and a secret.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "coordinate/agent/job_identity.hpp"

namespace halcyon::coordinate {
namespace {

std::string name_with(const std::map<std::string, std::string>& variables) {
    for (const char* one :
         {"HALCYON_AGENT_JOB", "PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID", "HALCYON_JOB", "HALCYON_JOB_SECRET"})
        ::unsetenv(one);
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    return job_identity::of_environment().name;
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
