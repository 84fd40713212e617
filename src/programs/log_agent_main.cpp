// halcyon-log-agent: works on log containers in the background, behind the job that writes them. Started by `halcyon
// run --log`.

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "base/closest_name.hpp"
#include "base/detached_start.hpp"
#include "base/node_identity.hpp"
#include "logfs/background/agent.hpp"
#include "logfs/background/watched_job.hpp"
#include "programs/turns_of_job.hpp"

using namespace halcyon;
using namespace halcyon::logfs;

namespace {

constexpr const char* usage =
    "usage: halcyon-log-agent [OPTION]... DIRECTORY...\n"
    "\n"
    "Works on the log containers below DIRECTORY until there is nothing more to do.\n"
    "\n"
    "  --flatten           makes plain files of those that nobody has open\n"
    "  --stage DIRECTORY   brings data from this directory of the node into their containers\n"
    "  --rate BYTES        that are written in a second, at most (default: as many as can be)\n"
    "  --quiet SECONDS     while the job runs, leaves alone what changed since (default: 5)\n"
    "  --patience SECONDS  waits for what others have open, behind the job's end (default: 600)\n"
    "  --job PID           a process: while it runs, new containers are waited for\n"
    "  --users FILE        processes that have byte 1 of it locked: likewise; one agent works for them\n"
    "  --report FILE       where to say why containers are left alone, while there are such\n"
    "  --turns             takes turns with other jobs, as HALCYON_COORDINATORS says\n"
    "  --detach            goes on in the background; tells its starter by descriptor 3 when it does\n";

struct command_line {
    agent_settings agent;
    pid_t job = 0;
    std::string users;
    bool takes_turns = false;
    bool detaches = false;
    bool wants_help = false;
};

failure wrong(std::string message) {
    return {error_kind::usage, std::move(message), 0};
}

result<double> number(std::string_view option, std::string_view text, double least, double most) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) return value;
    return wrong(std::string(option) + " " + printable(text) + ": expected a number");
}

bool* flag_of(command_line& into, std::string_view option) {
    if (option == "--flatten") return &into.agent.flattens;
    if (option == "--turns") return &into.takes_turns;
    if (option == "--detach") return &into.detaches;
    if (option == "--help" || option == "-h") return &into.wants_help;
    return nullptr;
}

result<void> take_value(command_line& into, std::string_view option, std::string_view value) {
    constexpr double longest_s = 1e9;
    if (option == "--report" || option == "--stage" || option == "--users") {
        (option == "--report" ? into.agent.report_file : option == "--stage" ? into.agent.stage : into.users) = value;
        return {};
    }
    const bool is_time = option == "--quiet" || option == "--patience";
    if (!is_time && option != "--rate" && option != "--job") return wrong("unknown option " + printable(option));
    const auto given = number(option, value, 0, option == "--rate" ? 1e18 : longest_s);
    if (!given) return given.why();
    if (option == "--rate") into.agent.bytes_per_s = *given;
    if (option == "--job") into.job = static_cast<pid_t>(*given);
    if (option == "--quiet") into.agent.quiet_ns = static_cast<int64_t>(*given * 1e9);
    if (option == "--patience") into.agent.patience_ns = static_cast<int64_t>(*given * 1e9);
    return {};
}

result<command_line> parsed(std::span<const char* const> words) {
    command_line made;
    for (size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (!word.starts_with("-")) {
            // What stays behind works in another directory.
            std::error_code why;
            std::string root = std::filesystem::weakly_canonical(std::filesystem::absolute(word, why), why).string();
            while (root.size() > 1 && root.ends_with('/')) root.pop_back();
            made.agent.roots.push_back(std::move(root));
        } else if (bool* const flag = flag_of(made, word); flag != nullptr) {
            *flag = true;
        } else if (++i == words.size()) {
            return wrong(std::string(word) + ": needs a value, or is no option");
        } else if (auto taken = take_value(made, word, words[i]); !taken) {
            return taken.why();
        }
    }
    if (made.agent.roots.empty() && !made.wants_help) return wrong("no directory is given");
    while (made.agent.stage.ends_with('/')) made.agent.stage.pop_back();
    return made;
}

int fail(const failure& why) {
    std::fprintf(stderr, "halcyon-log-agent: %s\n", why.message.c_str());
    return why.kind == error_kind::usage ? 2 : 1;
}

/// What goes on behind a job asks as another one than that: it is not the job's turn that it takes.
void become_own_job() {
    const std::string job = variable_or_nothing("HALCYON_JOB");
    const std::string secret = variable_or_nothing("HALCYON_JOB_SECRET");
    constexpr size_t most = 60;
    const std::string mine = job.substr(0, most) + ".log." + host_name().substr(0, most);
    ::setenv("HALCYON_AGENT_JOB", mine.c_str(), 1);
    ::setenv("HALCYON_AGENT_SECRET", secret.c_str(), 1);
    ::unsetenv("HALCYON_TRACE_DIR");  // it has nothing to tell to who evaluates the run
}

int work(const command_line& given) {
    watched_process starter(given.job);
    watched_users users;
    if (!given.users.empty()) {
        if (auto taken = watched_users::take(users, given.users); !taken) {
            // Another one does it.
            const bool is_well = taken.why().system_errno == EBUSY;
            if (given.detaches) tell_starter(is_well ? result<void>() : taken);
            return is_well ? 0 : fail(taken.why());
        }
    }
    watched_job& job = given.users.empty() ? static_cast<watched_job&>(starter) : users;
    if (given.takes_turns) become_own_job();
    const std::unique_ptr<turn> turns = given.takes_turns ? turns_of_job() : std::make_unique<no_turns>();
    if (given.detaches) tell_starter({});
    const agent_report done = run_agent(given.agent, job, *turns);
    if (given.detaches) return 0;
    for (const std::string& each : done.left) std::fprintf(stderr, "halcyon-log-agent: %s\n", each.c_str());
    return done.left.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
    const std::span<const char* const> words(argv + 1, static_cast<size_t>(argc - 1));
    const auto given = parsed(words);
    if (!given) {
        const bool is_heard = std::any_of(words.begin(), words.end(),
                                          [](const char* word) { return std::string_view(word) == "--detach"; });
        if (is_heard) tell_starter(given.why());
        return fail(given.why());
    }
    if (given->wants_help) {
        std::fputs(usage, stdout);
        return 0;
    }
    if (given->detaches) detach_from_starter("halcyon-log-age");
    return work(*given);
} catch (const std::exception& e) {
    std::fprintf(stderr, "halcyon-log-agent: %s\n", e.what());
    return 1;
}
