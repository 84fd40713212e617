#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "policy/application.hpp"
#include "policy/groups.hpp"

namespace halcyon::coordinate {

/// What a decision has changed, by groups of present applications: those of a group share storage, directly or through
/// others. There may be thousands of applications, so nothing here looks at pairs of them.
class changed_groups {
  public:
    static constexpr size_t unchanged = SIZE_MAX;
    struct member {
        uint32_t group = 0;
        const policy::application* of = nullptr;
        size_t rank = unchanged;  ///< in the order in which turns were given, then recalled
        bool moves = false;       ///< it was given one
    };
    struct group {
        size_t rank = unchanged;  ///< that of its first member
        uint64_t first_id = 0;    ///< the least of its members
        std::span<member> members;
    };

    /// Those in which a turn was given or recalled, by rank; in each, the members with a rank come first, then by
    /// arrival. `seen`: by id. Valid until the next call.
    std::span<const group> find(std::span<const policy::application> seen, std::span<const uint64_t> granted,
                                std::span<const uint64_t> recalled);

  private:
    struct change {
        uint64_t id = 0;
        size_t rank = 0;
    };
    void collect(std::span<const policy::application> seen);
    void rank(std::span<const uint64_t> granted, std::span<const uint64_t> recalled);

    policy::target_groups targets_;
    std::vector<member> members_;  ///< by group
    std::vector<change> changes_;  ///< by id
    std::vector<group> found_;
};

}  // namespace halcyon::coordinate
