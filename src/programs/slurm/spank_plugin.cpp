// The option --halcyon of srun. srun asks `halcyon slurm prepare` for what `halcyon run` would set, and sends it along
// with the environment; each task takes it out; when srun ends, `halcyon slurm finish` says what was recorded. Nothing
// here ends a step, but a value of the option that is none.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

extern "C" {
#include <slurm/spank.h>
}

#include "known_layers.hpp"
#include "programs/slurm/prepared_step.hpp"

#define HALCYON_SPANK extern "C" __attribute__((visibility("default")))

// As SPANK_PLUGIN of spank.h declares them, for C.
HALCYON_SPANK const char plugin_name[] = "halcyon";
HALCYON_SPANK const char plugin_type[] = "spank";
HALCYON_SPANK const unsigned int plugin_version = SLURM_VERSION_NUMBER;
HALCYON_SPANK const unsigned int spank_plugin_version = 1;

namespace halcyon::slurm {
namespace {

/// On the way from srun to a task, variables have other names: they are for tasks, not for Slurm's own programs.
constexpr std::string_view on_the_way = "HALCYON_STEP_";

std::string program = "halcyon";  ///< `program=` in plugstack.conf
std::string coordinators;         ///< `coordinators=` there; "": the file of this machine
std::string layers;               ///< as the user gave them; "": the option was not given
std::string output;
std::string folder;  ///< of the step's run
pid_t srun = 0;

std::string list_of_layers() {
    std::string all;
    for (const std::string_view one : known_layers) all.append(all.empty() ? "" : ", ").append(one);
    return all;
}

int take_layers(int, const char* given, int remote) {
    if (remote != 0) return ESPANK_SUCCESS;
    const std::string_view list = given == nullptr ? "" : given;
    for (size_t at = 0; at <= list.size();) {
        const std::string_view one = list.substr(at, list.find(',', at) - at);
        if (std::ranges::find(known_layers, one) == std::end(known_layers)) {
            slurm_error("--halcyon: no layer '%s'; known layers: %s", std::string(one).c_str(),
                        list_of_layers().c_str());
            return ESPANK_BAD_ARG;
        }
        at += one.size() + 1;
    }
    layers = list;
    return ESPANK_SUCCESS;
}

int take_output(int, const char* given, int remote) {
    if (remote == 0) output = given == nullptr ? "" : given;
    return ESPANK_SUCCESS;
}

/// What the user started: the words behind the options of srun.
std::vector<std::string> command_of(spank_t step) {
    int count = 0;
    char** words = nullptr;
    if (spank_get_item(step, S_JOB_ARGV, &count, &words) != ESPANK_SUCCESS || words == nullptr) return {};
    return {words, words + count};
}

/// srun has ended its step; `status` is its own exit status. Not in processes that it has forked.
void finish(int status, void*) {
    if (::getpid() == srun) run_program(program, {"slurm", "finish", folder, "--status", std::to_string(status)});
}

void prepare(spank_t step) {
    std::vector<std::string> arguments{"slurm", "prepare", "--layers", layers};
    if (!output.empty()) arguments.insert(arguments.end(), {"--output", output});
    if (!coordinators.empty()) arguments.insert(arguments.end(), {"--coordinators", coordinators});
    arguments.emplace_back("--");
    const std::vector<std::string> command = command_of(step);
    arguments.insert(arguments.end(), command.begin(), command.end());
    const auto prepared = prepare_step(program, arguments);
    if (!prepared) {
        slurm_error("halcyon: this step runs without --halcyon: '%s slurm prepare' did not succeed", program.c_str());
        return;
    }
    for (const auto& [name, value] : prepared->variables)
        ::setenv((std::string(on_the_way) + name).c_str(), value.c_str(), 1);
    folder = prepared->folder;
    srun = ::getpid();
    ::on_exit(finish, nullptr);
}

/// In a task, before its program is started.
void take_out_variables(spank_t step) {
    char** environment = nullptr;
    if (spank_get_item(step, S_JOB_ENV, &environment) != ESPANK_SUCCESS || environment == nullptr) return;
    std::vector<std::string> ours;
    for (char** entry = environment; *entry != nullptr; ++entry)
        if (std::string_view(*entry).starts_with(on_the_way)) ours.emplace_back(*entry);
    for (const std::string& entry : ours) {
        const size_t equals = entry.find('=');
        const std::string name = entry.substr(0, equals);
        spank_setenv(step, name.c_str() + on_the_way.size(), entry.c_str() + equals + 1, 1);
        spank_unsetenv(step, name.c_str());
    }
}

}  // namespace
}  // namespace halcyon::slurm

HALCYON_SPANK int slurm_spank_init(spank_t context, int count, char* words[]) {
    using namespace halcyon::slurm;
    constexpr std::string_view names_program = "program=", names_coordinators = "coordinators=";
    for (int i = 0; i < count; ++i) {
        const std::string_view word(words[i]);
        if (word.starts_with(names_program)) program = word.substr(names_program.size());
        if (word.starts_with(names_coordinators)) coordinators = word.substr(names_coordinators.size());
    }
    if (spank_context() != S_CTX_LOCAL && spank_context() != S_CTX_REMOTE) return ESPANK_SUCCESS;
    // Slurm keeps copies of neither text.
    static std::string usage = "record, forecast or coordinate the I/O of this step; LIST of " + list_of_layers();
    static char option[] = "halcyon", list[] = "LIST", output_option[] = "halcyon-output", directory[] = "DIR";
    static char output_usage[] = "folder for what --halcyon records (default: PROGRAM.halcyon)";
    static spank_option options[] = {{option, list, usage.data(), 1, 0, take_layers},
                                     {output_option, directory, output_usage, 1, 0, take_output}};
    for (spank_option& one : options) spank_option_register(context, &one);
    return ESPANK_SUCCESS;
}

/// In srun, once the job has its nodes; of a heterogeneous job for each component, and all of them are one run.
HALCYON_SPANK int slurm_spank_local_user_init(spank_t step, int, char**) {
    using namespace halcyon::slurm;
    if (!layers.empty() && folder.empty()) prepare(step);
    return ESPANK_SUCCESS;
}

HALCYON_SPANK int slurm_spank_task_init(spank_t step, int, char**) {
    halcyon::slurm::take_out_variables(step);
    return ESPANK_SUCCESS;
}
