#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/error.hpp"

namespace halcyon {

/// Who is at the other end of a connection, and by whose word.
struct peer_identity {
    enum class witness : uint8_t {
        kernel,  ///< of a Unix socket: who connected, or of a client's end: who listens
        munge,   ///< of TCP: a credential that the peer's munged has signed
        nobody,  ///< the peer's own claim, on a network where everybody is trusted
    };

    uid_t uid = 0;
    gid_t gid = 0;
    /// 0: not known (MUNGE does not tell), or outside this PID namespace.
    pid_t pid = 0;
    witness by = witness::kernel;

    friend bool operator==(const peer_identity&, const peer_identity&) = default;
};

/// Of a connected Unix socket, as the kernel saw its peer connect (or listen).
result<peer_identity> unix_peer(int socket);

}  // namespace halcyon
