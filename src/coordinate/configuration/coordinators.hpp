#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/line_socket/socket_address.hpp"
#include "coordinate/coordinator/settings.hpp"

namespace halcyon::coordinate {

/// How the daemon of one file system can be reached, and by whom.
struct service {
    std::vector<socket_address> listen;  ///< empty: the command line must say which of several addresses
    mode_t permissions = 0666;           ///< of the files of Unix sockets
    bool insecure = false;               ///< TCP without MUNGE
    std::optional<uid_t> user;           ///< of the daemon; clients believe it at Unix addresses
    std::string munge_socket;            ///< empty: libmunge's default
    std::vector<uid_t> administrators;   ///< besides root and the user of the daemon
    std::optional<socket_address> metrics;
    std::string epoch_file;                                     ///< empty: none
    int64_t most_buffered_bytes_per_user = int64_t{64} << 20U;  ///< from and to one user
    bool operator==(const service&) const = default;
};

/// How several daemons of one file system agree on the one that gives turns.
struct elect {
    std::vector<std::string> servers;  ///< of etcd; empty: there is one daemon, and nobody is elected
    std::string prefix;                ///< of etcd's keys
    int64_t lease_s = 4;               ///< a leader that is not heard of for so long is replaced
    bool operator==(const elect&) const = default;
};

/// One file system and its coordinator.
struct coordinator_entry {
    std::string name;
    std::vector<std::string> paths;         ///< absolute, without `.`, `..`, doubled and trailing slashes
    std::vector<socket_address> addresses;  ///< where clients connect; several: they try one after the other
    service reached;
    elect by;
    settings how;

    /// Where its agents find it and whom they believe there, as in HALCYON_COORDINATORS (agent_loop.hpp).
    [[nodiscard]] std::string reached_at() const;
};

/// What coordinators.yaml says.
struct coordinators {
    std::vector<coordinator_entry> entries;  ///< in the order of the file; at least one

    /// Null: there is none of this name.
    [[nodiscard]] const coordinator_entry* named(std::string_view name) const;
};

/// Failures (kind config) as `file:line: key.path: …`, with the value seen and those expected.
result<coordinators> parse_coordinators(std::string_view yaml_text, std::string_view file_name);
/// Of a file. Failure (system), too: it cannot be read.
result<coordinators> read_coordinators(const std::string& path);

/// Of times that are allowed, and with which two applications may have the turn at once for a moment; mostly none.
std::vector<std::string> warnings_about(const settings& how);

/// The entry with this name; empty: the only one. Failure (usage): there is none, or there are several.
result<coordinator_entry> choose(const coordinators& all, std::string_view name, std::string_view file_name);

/// "dynamic" and so on. None: unknown.
std::optional<policy::rule> rule_of(std::string_view word);
std::optional<policy::metric> metric_of(std::string_view word);
/// All words that they know.
std::vector<std::string> rule_names();
std::vector<std::string> metric_names();

}  // namespace halcyon::coordinate
