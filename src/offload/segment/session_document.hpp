#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// What a server must know of its session besides the segment. The node's first client writes it into frozen shared
/// memory, so that a server that takes over later reads the same, whatever became of files meanwhile.
struct session_document {
    std::string session;             ///< random id, hexadecimal
    std::string run;                 ///< random id of the run, the same on all nodes; "" without stores
    std::string configuration;       ///< text of halcyon.yaml
    std::string configuration_name;  ///< its path, for messages
    std::string directory;           ///< working directory of rank 0 at open: relative paths start here
    std::string writer;              ///< "n0000"
    int node = 0;                    ///< index of this node
    int nodes = 1;
    int ranks = 1;                             ///< size of the communicator of open
    std::vector<int> client_ranks;             ///< rank of each client of this node
    std::vector<std::string> client_cpus;      ///< cores each client of the machine is bound to, as "0-3,8"
    int server_of_machine = 0;                 ///< index among the servers of this machine
    std::map<std::string, double> parameters;  ///< of the first client, as they were at open
    segment_geometry geometry;

    [[nodiscard]] std::string to_text() const;
    static result<session_document> from_text(std::string_view text);
    bool operator==(const session_document&) const = default;
};

/// 32 random hexadecimal digits from the system.
std::string random_session_id();

/// Name of the abstract socket of the `generation`th server of a session.
std::string socket_name(const std::string& session, uint32_t generation);
/// Name that the client holds which has its turn to appoint the next server of a session.
std::string succession_name(const std::string& session);

}  // namespace halcyon::offload
