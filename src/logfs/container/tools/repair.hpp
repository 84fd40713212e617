#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"

namespace halcyon::logfs {

struct repair_options {
    /// Says what it would do.
    bool only_tells = false;
    /// Also droppings that a process of this node may still be writing.
    bool ignores_writers = false;
};

struct repair_report {
    std::vector<std::string> done;  ///< one line for each change
    uint64_t rewritten = 0;         ///< index droppings
    uint64_t lost_records_in = 0;   ///< index droppings of which records are lost that had been synced
    int64_t cut_bytes = 0;          ///< of data that their droppings do not hold
};

/// Makes a damaged container one that can be read: cuts torn tails, takes the sound records of damaged indexes into new
/// ones, cuts from indexes what their data droppings do not hold, and puts aside data that no index names. Of what it
/// replaces it leaves a copy, `damaged.…` beside it, of which readers take no notice. Sound droppings are left alone.
///
/// What is lost stays lost: where a lost write had replaced older bytes, those are read again. Failure: usage, a
/// process still writes; system; then each dropping is as before or repaired.
result<repair_report> repair(container& what, const repair_options& how = {});

}  // namespace halcyon::logfs
