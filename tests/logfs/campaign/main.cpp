// Random operations by several processes at a time on a container, compared with what it is to hold, for so many
// operations, SIGKILLs of writers and changed bits, or minutes. What is wrong ends it, with the round: the same seed
// and round play the same operations and kills again, as far as the processes come in the same order.
//
//   log_fault_campaign [--operations N] [--kills N] [--minutes M] [--seed S] [--from ROUND] [--rounds N]
//                      [--log DIR [--checks yes] | --plain DIR]
//
// Rounds with an odd number have kills and changed bits, the others have none. --log: by the calls of a program, in a
// directory of log containers; the library is loaded. --checks: it sums data. --plain: likewise with plain files.
#include <signal.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "round.hpp"
#include "temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;
using namespace halcyon::logfs::campaign;

struct wishes {
    uint64_t operations = 0;
    uint64_t kills = 0;
    uint64_t seed = 1;
    uint64_t from = 0;
    uint64_t rounds = UINT64_MAX;
    int64_t end_ns = INT64_MAX;
    std::string directory;  // --log, --plain
    bool is_plain = false;
    bool has_checks = false;
};

bool read_words(int count, char** words, wishes& into) {
    for (int i = 1; i < count; i += 2) {
        const std::string_view name = words[i];
        if (i + 1 == count) return false;
        const char* const value = words[i + 1];
        const uint64_t number = std::strtoull(value, nullptr, 10);
        if (name == "--operations")
            into.operations = number;
        else if (name == "--kills")
            into.kills = number;
        else if (name == "--seed")
            into.seed = number;
        else if (name == "--from")
            into.from = number;
        else if (name == "--rounds")
            into.rounds = number;
        else if (name == "--minutes")
            into.end_ns = halcyon::monotonic_ns() + static_cast<int64_t>(std::strtod(value, nullptr) * 60e9);
        else if (name == "--log" || name == "--plain") {
            into.directory = value;
            into.is_plain = name == "--plain";
        } else if (name == "--checks")
            into.has_checks = std::string_view(value) == "yes";
        else
            return false;
    }
    // Time, or rounds, alone are a wish for as many of all as go into it.
    if (into.operations == 0 && into.kills == 0) into.operations = into.kills = UINT64_MAX;
    if (into.is_plain) into.kills = 0;
    return into.operations != UINT64_MAX || into.end_ns != INT64_MAX || into.rounds != UINT64_MAX;
}

round_settings settings_of(uint64_t number, const wishes& all, const std::string& folder) {
    round_settings how;
    how.seed = mixed(all.seed, number);
    how.kills = number % 2 == 1;
    how.operations = how.kills ? 120 : 500;
    how.is_logged = !all.directory.empty();
    how.has_container = !all.is_plain;
    const std::string name = "/file" + std::to_string(number);
    if (how.is_logged) {
        how.path = all.directory + name;
        if (!all.is_plain) how.unseen = folder + "/unseen" + name;
        how.has_checks = all.has_checks;
        return how;
    }
    how.path = folder + name;
    how.has_checks = how.seed % 4 != 0;
    how.may_map = how.seed / 4 % 4 != 0;
    how.shares_with_node = how.seed % 8 == 0;
    return how;
}

void say(const counts& all) {
    std::printf("%" PRIu64 " rounds: %" PRIu64 " operations, %" PRIu64 " more among kills; %" PRIu64
                " turns compared, %" PRIu64 " reads compared meanwhile; %" PRIu64 " kills, %" PRIu64
                " of them in the middle of a change, behind %zu kinds of steps; changed bits: %" PRIu64
                " of indexes (%" PRIu64 " found), %" PRIu64 " of data (%" PRIu64 " found, %" PRIu64
                " that no sum was over)\n",
                all.rounds, all.operations, all.operations_among_kills, all.turns, all.reads, all.kills,
                all.kills_in_changes, all.kills_by_step.size(), all.index_flips, all.index_flips_found, all.data_flips,
                all.data_flips_found, all.data_flips_unsummed);
    std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
    wishes all;
    if (!read_words(count, words, all)) {
        std::fprintf(stderr, "usage: see the beginning of %s\n", __FILE__);
        return 2;
    }
    ::signal(SIGPIPE, SIG_IGN);
    const halcyon::tests::temporary_folder folder;
    // Links that lead into the directory are not seen by whoever answers for it.
    if (!all.directory.empty()) fs::create_directory_symlink(all.directory, folder.file("unseen"));
    constexpr int64_t said_ns = 10'000'000'000;
    constexpr uint64_t most_kills = 64;  // of a round: each leaves a log
    counts done;
    int64_t next_said_ns = halcyon::monotonic_ns() + said_ns;
    for (uint64_t number = all.from; done.rounds < all.rounds; ++number) {
        const int64_t now_ns = halcyon::monotonic_ns();
        const bool has_operations = done.operations >= all.operations;
        const bool has_kills = done.kills >= all.kills;
        if (now_ns >= all.end_ns || (has_operations && has_kills)) break;
        const round_settings how = settings_of(number, all, folder.path());
        if (how.kills ? has_kills : has_operations) continue;
        const auto played = std::make_unique<halcyon::logfs::campaign::round>(
            how, done, std::min(most_kills, all.kills - std::min(all.kills, done.kills)));
        const std::string failed = played->play();
        if (!failed.empty()) {
            say(done);
            std::printf("FAILED in round %" PRIu64 ": %s\n  again: --seed %" PRIu64 " --from %" PRIu64 " --rounds 1\n",
                        number, failed.c_str(), all.seed, number);
            return 1;
        }
        fs::remove_all(how.path);
        fs::remove(how.path + ".lock");
        fs::remove(how.path + ".flat");
        if (now_ns >= next_said_ns) {
            next_said_ns = now_ns + said_ns;
            say(done);
        }
    }
    say(done);
    return 0;
}
