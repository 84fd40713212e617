#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace halcyon::logfs::campaign {

/// What a campaign has done.
struct counts {
    uint64_t rounds = 0;
    uint64_t turns = 0;       ///< after each of which all of the file was compared
    uint64_t operations = 0;  ///< in rounds without kills
    uint64_t operations_among_kills = 0;
    uint64_t reads = 0;  ///< that were compared while others wrote
    uint64_t kills = 0;
    uint64_t kills_in_changes = 0;  ///< between the call and its return
    std::map<std::string, uint64_t> kills_by_step;
    uint64_t index_flips = 0;
    uint64_t index_flips_found = 0;
    uint64_t data_flips = 0;
    uint64_t data_flips_found = 0;
    uint64_t data_flips_unsummed = 0;  ///< behind the last sum that a killed writer left: nothing can tell
};

}  // namespace halcyon::logfs::campaign
