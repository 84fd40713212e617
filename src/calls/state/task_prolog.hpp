#pragma once

namespace halcyon::calls {

/// Whether this process is a TaskProlog of Slurm: a script of the site or the user that runs in front of each task,
/// with the environment of the task. It is none of the application. Neither allocates nor makes calls that could be
/// interposed.
bool is_task_prolog();

}  // namespace halcyon::calls
