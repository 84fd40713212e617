#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "coordinate/page/node_state.hpp"
#include "coordinate/page/page.hpp"

namespace halcyon::coordinate {

/// The storage targets of the processes of a node, at one file system, from the agent's side. Any process may have
/// written anything where it tells its own (phase_targets.hpp): numbers are read once and bounded, and a list that does
/// not come to rest is as one that is not known.
class observed_targets {
  public:
    /// All places are looked at, one after the other.
    void begin();
    /// `number`: of the slot.
    void look(uint32_t number, const process_slot& slot, size_t file_system);
    /// What all of them use.
    [[nodiscard]] node_targets end();

    /// The coordinator has heard of everything that was seen at the last look. Whether that is news for any process.
    [[nodiscard]] bool tell(page& shared, size_t file_system);

  private:
    /// One process, at one moment.
    struct reading {
        uint32_t version = 0;
        uint32_t turns = 0;
        uint32_t count = 0;
        bool told = false;
        bool active = false;
        int64_t moved_else = 0;  ///< bytes, ever, in no phase that its program has announced
        std::array<uint32_t, shared_targets::most> at{};
    };
    struct seen {
        uint64_t owner = 0;
        uint32_t version = 0;  ///< at the last look, while the program was in a phase; 0: it was in none
        int64_t moved_else = 0;
    };

    [[nodiscard]] bool read(const process_slot& slot, size_t file_system);
    [[nodiscard]] bool may_try_again();
    void add_list();
    void sort_list();

    reading now_;
    node_targets found_;
    std::array<uint32_t, shared_targets::most> last_{};  ///< that was added
    uint32_t last_count_ = 0;
    std::optional<int64_t> tries_since_ns_;
    std::vector<seen> seen_;  ///< by place
};

}  // namespace halcyon::coordinate
