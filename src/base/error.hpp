#pragma once

#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace halcyon {

/// The five kinds of error. The numbers are those of `halcyon_error` in halcyon.h.
enum class error_kind {
    config = 1,       ///< the configuration is wrong: file, line and key path are in the message
    usage = 2,        ///< the call makes no sense; the message says which call would
    system = 3,       ///< the system refused: errno and path are in the message
    unavailable = 4,  ///< no server, no coordinator; the message says what happened instead
    internal = 5,     ///< a fault of Halcyon: please report it
};

/// A failure as a value: used where exceptions must not pass (C ABI, interposed calls, the server's event loop).
struct failure {
    error_kind kind = error_kind::internal;
    std::string message;
    int system_errno = 0;
};

/// The same failure as an exception, used everywhere else.
class error : public std::runtime_error {
  public:
    explicit error(failure what) : std::runtime_error(what.message), failure_(std::move(what)) {}
    error(error_kind kind, std::string message) : error(failure{kind, std::move(message), 0}) {}

    [[nodiscard]] error_kind kind() const { return failure_.kind; }
    [[nodiscard]] const failure& as_failure() const { return failure_; }

  private:
    failure failure_;
};

/// `what: strerror(errno)`, kind system. `saved_errno` is taken by the caller, before anything can change it.
inline failure system_failure(std::string what, int saved_errno) {
    return {error_kind::system, std::move(what) + ": " + std::strerror(saved_errno), saved_errno};
}

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

/// Success or a failure.
template <>
class [[nodiscard]] result<void> {
  public:
    result() = default;
    result(failure what) : failure_(std::move(what)) {}

    [[nodiscard]] bool ok() const { return !failure_; }
    explicit operator bool() const { return ok(); }
    [[nodiscard]] const failure& why() const { return *failure_; }
    void value() && {
        if (failure_) throw error(*failure_);
    }

  private:
    std::optional<failure> failure_;
};

}  // namespace halcyon
