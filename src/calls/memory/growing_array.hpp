#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "calls/memory/memory_bound.hpp"

namespace halcyon::calls {

/// An array that doubles within a memory bound, and says so when it cannot: nothing here throws.
template <class T>
class growing_array {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    explicit growing_array(memory_bound& bound) : bound_(bound) {}
    ~growing_array() { bound_.give_back(data_, size_t{capacity_} * sizeof(T)); }
    growing_array(const growing_array&) = delete;
    growing_array& operator=(const growing_array&) = delete;

    T& operator[](uint32_t i) { return data_[i]; }
    const T& operator[](uint32_t i) const { return data_[i]; }
    [[nodiscard]] uint32_t size() const { return size_; }
    [[nodiscard]] uint32_t capacity() const { return capacity_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }

    /// False when there is no room for one more.
    [[nodiscard]] bool push(const T& value) {
        if (size_ == capacity_ && !grow()) return false;
        data_[size_++] = value;
        return true;
    }
    /// Room for so many in all, and no more than that; false when there is none.
    [[nodiscard]] bool reserve(uint32_t most) { return most <= capacity_ || resize(most); }
    T pop() { return data_[--size_]; }

  private:
    /// Near the bound smaller steps still fit.
    bool grow() {
        constexpr uint32_t first = sizeof(T) <= 64 ? 32 : 4;
        return resize(std::max(first, capacity_ * 2)) || (capacity_ >= first && resize(capacity_ + capacity_ / 4)) ||
               (capacity_ >= first && resize(capacity_ + capacity_ / 16));
    }

    bool resize(uint32_t capacity) {
        if (capacity <= capacity_) return false;
        auto* grown =
            static_cast<T*>(bound_.resize(data_, size_t{capacity_} * sizeof(T), size_t{capacity} * sizeof(T)));
        if (grown == nullptr) return false;
        data_ = grown;
        capacity_ = capacity;
        return true;
    }

    memory_bound& bound_;
    T* data_ = nullptr;
    uint32_t size_ = 0;
    uint32_t capacity_ = 0;
};

}  // namespace halcyon::calls
