#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace halcyon {

struct munge_library;

/// MUNGE, by which the nodes of a cluster know each other's users: a process has the local daemon (munged) sign a text
/// together with the process's user; any process of a node with the same key has its own daemon check it. libmunge is
/// loaded when it is first asked for, so that nobody needs it who does not use it.
///
/// Any thread may use it. Each call waits for the daemon: some 0.1 ms; 2 s where nobody listens at its socket and 10 s
/// where a daemon is stopped, by the limits of libmunge.
class munge {
  public:
    /// `daemon_socket`: the daemon's socket; empty: libmunge's default. Failure (unavailable): no libmunge.
    static result<munge> load(std::string daemon_socket = {});

    /// A credential: one line of text. Failure (unavailable): no daemon answers.
    [[nodiscard]] result<std::string> encode(std::string_view payload) const;

    struct decoded {
        std::string payload;
        uid_t uid = 0;
        gid_t gid = 0;
    };
    /// Failure (unavailable): no daemon answers. Usage: no credential, one of another key, one that is expired or from
    /// the future, or one that this node's daemon has decoded before.
    [[nodiscard]] result<decoded> decode(std::string_view credential) const;

    bool operator==(const munge&) const = default;  ///< of the same daemon

  private:
    munge(const munge_library& library, std::string daemon_socket)
        : library_(&library), daemon_socket_(std::move(daemon_socket)) {}

    const munge_library* library_;
    std::string daemon_socket_;
};

}  // namespace halcyon
