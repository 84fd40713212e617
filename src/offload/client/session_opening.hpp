#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/directory_claim.hpp"
#include "base/error.hpp"
#include "offload/client/client_session.hpp"
#include "offload/client/inline_store.hpp"
#include "offload/client/mpi_agreement.hpp"
#include "offload/client/server_process.hpp"

namespace halcyon::offload {

/// A session with the MPI it was opened over: what a halcyon_handle points to.
class mpi_session {
  public:
    /// Collective over `comm`; see halcyon_open.
    static result<std::unique_ptr<mpi_session>> open(const std::string& configuration_path, MPI_Comm comm,
                                                     const std::map<std::string, double>& parameters);
    /// Collective; see halcyon_close.
    result<void> close();

    client_session& client() { return *client_; }

  private:
    mpi_session() = default;

    result<void> share_machine();
    result<void> connect(const std::string& configuration);
    result<void> connect_to_server(const std::string& configuration, const arena_need& need);
    result<void> connect_as_leader(const std::string& configuration, const arena_need& need, std::string& session);
    [[nodiscard]] succession::about successors(const std::string& session, uint32_t client) const;
    result<void> prepare_directories();
    result<void> mark_directories() const;
    /// What is known of the time of a session that ends.
    struct ending {
        int64_t close_began_ns = 0, visible_ns = 0;
    };
    result<void> write_run_file(std::optional<ending> end) const;

    std::string configuration_path_, directory_;
    std::string run_;  ///< random id, the same on all ranks; "" without stores
    model model_;
    communicator all_, machine_, node_;  ///< `node_`: the part of the machine's clients that one server has
    int servers_of_machine_ = 1, server_of_machine_ = 0;
    std::vector<std::string> client_cores_;  ///< what each client of the machine is bound to
    int node_index_ = 0, nodes_ = 1;
    int dedicated_cores_ = 0;            ///< of this machine: left to its servers; 0 when they share the clients'
    std::vector<int> clients_per_node_;  ///< on rank 0
    int64_t open_began_ns_ = 0, open_ended_ns_ = 0;
    std::vector<directory_claim> claims_;  ///< on rank 0: nobody else stores where this session does
    inline_store* inline_ = nullptr;       ///< owned by client_
    server_process* link_ = nullptr;       ///< owned by client_; null for inline
    std::unique_ptr<segment> pending_segment_;
    std::unique_ptr<server_process> pending_link_;
    std::unique_ptr<client_session> client_;
};

}  // namespace halcyon::offload
