#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

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

}  // namespace halcyon
