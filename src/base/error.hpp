#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "halcyon/error.hpp"

namespace halcyon {

/// A value or a failure.
template <class T>
class [[nodiscard]] result {
  public:
    result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    result(failure what) : state_(std::in_place_index<1>, std::move(what)) {}

    [[nodiscard]] bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& operator*() & { return std::get<0>(state_); }
    const T& operator*() const& { return std::get<0>(state_); }
    T&& operator*() && { return std::get<0>(std::move(state_)); }
    T* operator->() { return &std::get<0>(state_); }
    const T* operator->() const { return &std::get<0>(state_); }

    [[nodiscard]] const failure& why() const { return std::get<1>(state_); }

    /// The value, or the failure thrown as `halcyon::error`.
    T value() && {
        if (!ok()) throw error(why());
        return std::get<0>(std::move(state_));
    }

  private:
    std::variant<T, failure> state_;
};

/// Success or a failure. Where exceptions are switched off, it cannot be thrown.
template <>
class [[nodiscard]] result<void> {
  public:
    result() = default;
    result(failure what) : failure_(std::move(what)) {}

    [[nodiscard]] bool ok() const { return !failure_; }
    explicit operator bool() const { return ok(); }
    [[nodiscard]] const failure& why() const { return *failure_; }
#if defined(__cpp_exceptions)
    void value() && {
        if (failure_) throw error(*failure_);
    }
#endif

  private:
    std::optional<failure> failure_;
};

}  // namespace halcyon
