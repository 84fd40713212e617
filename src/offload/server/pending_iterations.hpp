#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace halcyon::offload {

/// For each store of the configuration: the complete iterations that are in no file yet, in their order, and the last
/// iteration that an action asked for. The loop's thread alone uses it.
class pending_iterations {
  public:
    explicit pending_iterations(size_t stores) : of_store_(stores) {}

    [[nodiscard]] const std::vector<int64_t>& of(uint32_t store) const { return of_store_[store].numbers; }
    [[nodiscard]] int64_t wanted(uint32_t store) const { return of_store_[store].wanted; }
    /// Nothing is pending, of any store.
    [[nodiscard]] bool empty() const {
        return std::all_of(of_store_.begin(), of_store_.end(), [](const list& l) { return l.numbers.empty(); });
    }

    void add(uint32_t store, int64_t iteration) { of_store_[store].numbers.push_back(iteration); }
    void want(uint32_t store, int64_t iteration) {
        of_store_[store].wanted = std::max(of_store_[store].wanted, iteration);
    }
    /// Takes the first `most` iterations out, or all.
    [[nodiscard]] std::vector<int64_t> take(uint32_t store, size_t most = SIZE_MAX) {
        std::vector<int64_t>& numbers = of_store_[store].numbers;
        if (most >= numbers.size()) return std::exchange(numbers, {});
        const auto end = numbers.begin() + static_cast<ptrdiff_t>(most);
        std::vector<int64_t> first(numbers.begin(), end);
        numbers.erase(numbers.begin(), end);
        return first;
    }
    /// Iterations that were taken, and come before all that are pending.
    void put_back(uint32_t store, std::span<const int64_t> iterations) {
        std::vector<int64_t>& numbers = of_store_[store].numbers;
        numbers.insert(numbers.begin(), iterations.begin(), iterations.end());
    }

  private:
    struct list {
        std::vector<int64_t> numbers;
        int64_t wanted = -1;
    };
    std::vector<list> of_store_;
};

}  // namespace halcyon::offload
