#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/directory_claim.hpp"
#include "base/error.hpp"
#include "offload/client/client_session.hpp"
#include "offload/client/inline_writer.hpp"
#include "offload/client/mpi_agreement.hpp"
#include "offload/client/server_process.hpp"
#include "offload/client/steering_round.hpp"
#include "offload/segment/session_document.hpp"

namespace halcyon::offload {

/// A session with the MPI it was opened over: what a halcyon_handle points to.
class mpi_session {
  public:
    /// `parameters`: values set before the open.
    mpi_session(std::string configuration_path, std::map<std::string, double> parameters)
        : configuration_path_(std::move(configuration_path)), set_parameters_(std::move(parameters)) {}

    /// Collective over `all`, once; see halcyon_open. Between two collective calls each rank does what may fail in a
    /// step of its own, and no step fails without telling the others (agree_after): none of them waits for ever.
    result<void> open(communicator all);
    /// As halcyon_end_iteration: collective where parameters are steerable.
    result<void> end_iteration();
    /// Collective; see halcyon_close.
    result<void> close();
    /// In place of close() when MPI does not run any more: what this rank has is handed over or stored, and nobody
    /// waits. Says which, for a message, and who makes the view.
    result<std::string> close_without_mpi();

    client_session& client() { return *client_; }

  private:
    result<void> open_in_steps();
    result<void> read_configuration();
    result<void> find_place();
    result<void> share_machine();
    result<void> number_nodes();
    result<void> count_nodes(const communicator& leaders);
    result<void> prepare_output();
    result<void> connect();
    result<void> connect_inline();
    result<void> begin_steering();
    result<void> most_demanding(arena_need& need) const;
    result<void> connect_to_server(const arena_need& need);
    void leave_server();
    result<void> lead(const arena_need& need, const std::vector<std::string>& ranks, std::string& session);
    result<void> join(const std::string& session);
    [[nodiscard]] session_document document_for(const std::vector<std::string>& ranks,
                                                const segment_geometry& geometry) const;
    [[nodiscard]] std::unique_ptr<inline_writer> make_fallback() const;
    [[nodiscard]] place_in_job place() const;
    [[nodiscard]] succession::about successors(const std::string& session, uint32_t client) const;
    /// What is known of the time of a session that ends.
    struct ending {
        int64_t close_began_ns = 0, visible_ns = 0;
    };
    result<void> write_run_file(std::optional<ending> end) const;
    result<void> mark_unended();

    std::string configuration_path_;
    std::map<std::string, double> set_parameters_;
    launch_environment environment_;
    std::string configuration_, directory_;
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
    inline_writer* inline_ = nullptr;      ///< owned by client_
    server_process* link_ = nullptr;       ///< owned by client_; null for inline
    // Until the session is open.
    std::unique_ptr<inline_writer> pending_fallback_;
    std::unique_ptr<segment> pending_segment_;
    std::unique_ptr<server_process> pending_link_;
    std::unique_ptr<client_session> client_;
    std::optional<steering_round> steering_;  ///< where parameters are steerable
};

}  // namespace halcyon::offload
