#pragma once

#include <cstddef>
#include <cstdint>

namespace halcyon::coordinate {

/// What the processes of a job have in common, by their environment. Fixed arrays, ended by 0: it is made inside
/// applications.
struct job_identity {
    /// HALCYON_JOB where HALCYON_JOB_SECRET is set, too, before what tells launches of PMIx, or steps of Slurm, apart.
    /// Else of the namespace of PMIx (with the same), else of the step of Slurm, else HALCYON_JOB; "": there is nothing
    /// to go by. In a job of Slurm it begins with `slurm-<job>.`: all applications of a job are known as its own.
    char name[128];
    /// That only processes of the job know: HALCYON_JOB_SECRET. Without that it is made of the name, and keeps out
    /// other users' jobs only, as the coordinator compares users as well.
    char secret[72];
    int64_t processes;  ///< as the launcher says; 1 where it does not
    int64_t nodes;      ///< likewise

    /// In an agent, which has no variables of the job: as the process that started it found it (HALCYON_AGENT_JOB and
    /// the like).
    static job_identity of_environment();
    /// Of the abstract socket on which the agent of this node hands out the page.
    void name_socket(char* out, size_t room) const;
};

}  // namespace halcyon::coordinate
