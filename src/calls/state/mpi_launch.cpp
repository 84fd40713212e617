#include "calls/state/mpi_launch.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "base/fnv.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::calls::mpi_launch {
namespace {

const char* told(std::initializer_list<const char*> variables) {
    for (const char* variable : variables) {
        if (const char* value = getenv(variable)) return value;
    }
    return nullptr;
}

int told_number(std::initializer_list<const char*> variables) {
    const char* value = told(variables);
    return value == nullptr ? -1 : static_cast<int>(strtol(value, nullptr, 10));
}

/// Of several texts; never 0.
class hash {
  public:
    void add(std::string_view text) {
        sum_.add(text);
        sum_.add('\n');
    }
    [[nodiscard]] uint64_t value() const { return sum_.value() == 0 ? 1 : sum_.value(); }

  private:
    fnv1a sum_;
};

/// Of a process, in /proc.
class proc_entry {
  public:
    explicit proc_entry(int process) : process_(process) {}

    /// What the file holds, as far as it fits.
    template <size_t room>
    [[nodiscard]] std::string_view read(const char* file, char (&out)[room]) const {
        char path[64];
        const int fd = direct::open(path_of(file, path), O_RDONLY | O_CLOEXEC);
        if (fd < 0) return {};
        const ssize_t bytes = direct::read(fd, out, room);
        direct::close(fd);
        return {out, bytes < 0 ? 0 : static_cast<size_t>(bytes)};
    }

    [[nodiscard]] bool runs(std::string_view program) const {
        char path[64];
        char target[512];
        const long length = direct::call(SYS_readlinkat, AT_FDCWD, direct::address(path_of("exe", path)),
                                         direct::address(target), sizeof target);
        if (length <= 0) return false;
        const std::string_view whole(target, static_cast<size_t>(length));
        return whole.substr(whole.rfind('/') + 1) == program;
    }

    /// 0: none that can be seen.
    [[nodiscard]] int parent() const {
        char text[512];
        const std::string_view stat = read("stat", text);
        const size_t name_ends = stat.rfind(") ");  // "12 (name) S 1 …": the name may hold anything
        if (name_ends == std::string_view::npos || name_ends + 4 >= stat.size()) return 0;
        int number = 0;
        for (const char c : stat.substr(name_ends + 4)) {
            if (c < '0' || c > '9') break;
            number = number * 10 + (c - '0');
        }
        return number;
    }

  private:
    const char* path_of(const char* file, char (&path)[64]) const {
        snprintf(path, sizeof path, "/proc/%d/%s", process_, file);
        return path;
    }

    int process_;
};

/// The word behind `option` in a command line; "": it is not there.
std::string_view option_of(std::string_view command, std::string_view option) {
    bool is_next = false;
    while (!command.empty()) {
        const std::string_view word = command.substr(0, command.find('\0'));
        if (is_next) return word;
        is_next = word == option;
        command.remove_prefix(word.size() < command.size() ? word.size() + 1 : command.size());
    }
    return {};
}

/// hydra, the launcher of MPICH, tells processes nothing that differs from one launch to the next. Its proxy, which
/// started them, was told where the launcher listens; and the number of the world, for MPI_Comm_spawn makes others.
uint64_t hydra_name() {
    constexpr int most_generations = 16;  // of shells and wrappers in between
    int process = direct::parent_process_id();
    for (int i = 0; i < most_generations && process > 1; ++i) {
        const proc_entry at(process);
        if (!at.runs("hydra_pmi_proxy")) {
            process = at.parent();
            continue;
        }
        char text[4096];
        const std::string_view command = at.read("cmdline", text);
        const std::string_view listens = option_of(command, "--control-port");
        if (listens.empty()) return 0;
        hash all;
        all.add(listens);
        all.add(option_of(command, "--pgid"));
        return all.value();
    }
    return 0;
}

}  // namespace

uint64_t name() {
    // Before release 5, Open MPI's name of the job is made of 16 bits of a hash: its launcher's address goes with it.
    if (const char* job = told({"PMIX_NAMESPACE"})) {
        hash all;
        all.add(job);
        if (const char* launcher = told({"OMPI_MCA_orte_hnp_uri"})) all.add(launcher);
        return all.value();
    }
    // Below another launcher (mpiexec in a step of Slurm) hydra's processes have that one's variables, too.
    if (told({"HYDI_CONTROL_FD", "MPI_LOCALNRANKS"}) != nullptr) return hydra_name();
    if (const char* step = told({"PMI_JOBID"})) {  // srun: "job.step"
        hash all;
        all.add(step);
        return all.value();
    }
    return 0;
}

int rank() {
    return told_number({"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"});
}

bool is_on_one_node() {
    const int ranks = told_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
    const int here = told_number({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"});
    if (ranks > 0 && here > 0) return ranks == here;
    return told_number({"SLURM_STEP_NUM_NODES"}) == 1;
}

}  // namespace halcyon::calls::mpi_launch
