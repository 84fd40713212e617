#pragma once

#include <sys/types.h>

#include <random>
#include <string>
#include <vector>

#include "board.hpp"
#include "comparison.hpp"
#include "counts.hpp"
#include "settings.hpp"

namespace halcyon::logfs::campaign {

/// Some processes and a file, from its creation to its end. This process conducts: it says when a turn begins, starts
/// who was killed again, and looks at the file between turns.
class round {
  public:
    /// `most_kills`: of writers, in this round.
    round(const round_settings& how, counts& into, uint64_t most_kills);
    ~round();
    round(const round&) = delete;
    round& operator=(const round&) = delete;

    /// Why it failed; empty: it did not.
    std::string play();

  private:
    struct process {
        int pid = -1;
        int orders = -1;
        int answers = -1;
        uint64_t life = 0;
        bool is_busy = false;
    };

    bool start(int number);
    void begin_turn();
    bool give(int number, char what);
    bool play_turn();
    bool order_all(char what);
    bool wait_for(int first, int last, char what);
    bool follow_killed(int number, char what);
    bool look(bool at_all);
    bool look_at_container(bool flattens);
    void punch();
    bool fail(const std::string& why);

    round_settings how_;
    counts& counts_;
    uint64_t most_kills_;
    board& board_;
    comparison same_;
    std::mt19937_64 random_;
    process processes_[process_count];
};

}  // namespace halcyon::logfs::campaign
