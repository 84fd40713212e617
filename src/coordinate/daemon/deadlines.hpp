#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "coordinate/coordinator/effects.hpp"

namespace halcyon::coordinate {

/// Connections, each with a time by which it has to be done.
class deadlines {
  public:
    void set(connection_id id, int64_t until_ns) {
        forget(id);
        times_[id] = order_.emplace(until_ns, id);
    }
    /// Also of one that has none.
    void forget(connection_id id) {
        const auto found = times_.find(id);
        if (found == times_.end()) return;
        order_.erase(found->second);
        times_.erase(found);
    }
    /// The one whose time ends first, if that has passed, or if there are more than `most`.
    [[nodiscard]] std::optional<connection_id> due(int64_t now_ns, size_t most = SIZE_MAX) const {
        if (order_.empty() || (order_.begin()->first > now_ns && order_.size() <= most)) return std::nullopt;
        return order_.begin()->second;
    }

  private:
    std::multimap<int64_t, connection_id> order_;
    std::unordered_map<connection_id, std::multimap<int64_t, connection_id>::iterator> times_;
};

}  // namespace halcyon::coordinate
