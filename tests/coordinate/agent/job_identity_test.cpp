// What an application is called, by the environment of its processes.
#include "coordinate/agent/job_identity.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace halcyon::coordinate {
namespace {

std::string name_with(const std::map<std::string, std::string>& variables) {
    for (const char* one : {"HALCYON_AGENT_JOB", "PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID", "HALCYON_JOB"})
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

}  // namespace
}  // namespace halcyon::coordinate
