#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace halcyon::policy {

/// Which applications share storage, directly or over others: groups, joined by their targets.
class target_groups {
  public:
    static constexpr uint32_t nobody = UINT32_MAX;

    /// Takes no longer where many targets were listed before.
    void clear();
    /// The next application, numbered from 0. No targets: all of them.
    void add(std::span<const uint32_t> targets);
    /// An application of its group: the same one for all of the group, until more are added.
    [[nodiscard]] uint32_t group_of(uint32_t application);
    /// A group that uses one of `targets`, or nobody.
    [[nodiscard]] uint32_t group_at(std::span<const uint32_t> targets);

  private:
    struct slot {
        uint32_t target = 0;
        uint32_t user = nobody;
        uint32_t round = 0;  ///< before the latest clear(): it is free
    };

    void join(uint32_t a, uint32_t b);
    [[nodiscard]] bool is_used(const slot& one) const { return one.round == round_; }
    [[nodiscard]] slot& slot_of(uint32_t target);
    void make_room(size_t targets);

    std::vector<uint32_t> above_;  ///< by application: one of the same group, in the end itself
    std::vector<slot> users_;      ///< by target, open addressing
    size_t used_ = 0;
    uint32_t round_ = 1;
    uint32_t of_all_ = nobody;  ///< one that uses all targets
};

}  // namespace halcyon::policy
