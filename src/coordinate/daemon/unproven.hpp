#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "coordinate/coordinator/effects.hpp"

namespace halcyon::coordinate {

/// TCP connections of which is not known yet whose they are, by address: no node may keep the others from showing
/// theirs. A job of thousands of nodes connects at once, and each that is refused tries again: so those that have come
/// a moment ago stay. Older ones make room, or a few idle connections would shut out all other users of their node.
class unproven {
  public:
    static constexpr uint32_t most_of_address = 128;
    static constexpr size_t most = 4096;

    /// False: there are too many already, and it is not among them.
    bool add(connection_id id, const std::string& address) {
        if (is_full(address)) return false;
        of_address_[address].insert(id);
        address_[id] = address;
        return true;
    }
    /// Also of one that is not among them.
    void remove(connection_id id) {
        const auto found = address_.find(id);
        if (found == address_.end()) return;
        const auto beside = of_address_.find(found->second);
        beside->second.erase(id);
        if (beside->second.empty()) of_address_.erase(beside);
        address_.erase(found);
    }
    /// Of those that keep a new one of this address out, the first in the order in which they came that `may_go`; those
    /// behind one that `is_young` are not asked.
    template <class Condition, class Age>
    [[nodiscard]] std::optional<connection_id> to_make_room(const std::string& address, Condition may_go,
                                                            Age is_young) const {
        const auto beside = of_address_.find(address);
        if (beside != of_address_.end() && beside->second.size() >= most_of_address)
            return first(
                beside->second, [](connection_id id) { return id; }, may_go, is_young);
        return first(
            address_, [](const auto& one) { return one.first; }, may_go, is_young);
    }

  private:
    [[nodiscard]] bool is_full(const std::string& address) const {
        const auto beside = of_address_.find(address);
        return address_.size() >= most || (beside != of_address_.end() && beside->second.size() >= most_of_address);
    }
    template <class All, class Id, class Condition, class Age>
    static std::optional<connection_id> first(const All& all, Id id_of, Condition may_go, Age is_young) {
        for (const auto& one : all) {
            if (is_young(id_of(one))) break;
            if (may_go(id_of(one))) return id_of(one);
        }
        return std::nullopt;
    }

    std::map<connection_id, std::string> address_;  ///< ids rise with the time at which they came
    std::unordered_map<std::string, std::set<connection_id>> of_address_;
};

}  // namespace halcyon::coordinate
