#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "coordinate/coordinator/effects.hpp"

namespace halcyon::coordinate {

/// TCP connections of which is not known yet whose they are, by address: no node may keep the others from showing
/// theirs. Those that are there stay: a job of thousands of nodes connects at once, and each that is refused tries
/// again.
class unproven {
  public:
    static constexpr uint32_t most_of_address = 128;
    static constexpr size_t most = 4096;

    /// False: there are too many already, and it is not among them.
    bool add(connection_id id, std::string address) {
        uint32_t& of_address = count_[address];
        if (of_address >= most_of_address || address_.size() >= most) {
            if (of_address == 0) count_.erase(address);
            return false;
        }
        ++of_address;
        address_[id] = std::move(address);
        return true;
    }
    /// Also of one that is not among them.
    void remove(connection_id id) {
        const auto found = address_.find(id);
        if (found == address_.end()) return;
        const auto counted = count_.find(found->second);
        if (--counted->second == 0) count_.erase(counted);
        address_.erase(found);
    }

  private:
    std::unordered_map<connection_id, std::string> address_;
    std::unordered_map<std::string, uint32_t> count_;
};

}  // namespace halcyon::coordinate
