#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/turn.hpp"
#include "offload/output/output_writer.hpp"
#include "offload/output/run_records.hpp"
#include "offload/output/socket_file.hpp"
#include "offload/segment/segment.hpp"
#include "offload/segment/session_document.hpp"
#include "offload/server/action_queue.hpp"
#include "offload/server/block_intake.hpp"
#include "offload/server/client_roster.hpp"
#include "offload/server/client_signals.hpp"
#include "offload/server/client_wishes.hpp"
#include "offload/server/connections.hpp"
#include "offload/server/durability.hpp"
#include "offload/server/event_intake.hpp"
#include "offload/server/file_assembly.hpp"
#include "offload/server/file_queue.hpp"
#include "offload/server/file_sharing.hpp"
#include "offload/server/held_blocks.hpp"
#include "offload/server/inbox.hpp"
#include "offload/server/iteration_book.hpp"
#include "offload/server/iteration_pace.hpp"
#include "offload/server/job_events.hpp"
#include "offload/server/journal.hpp"
#include "offload/server/loss_report.hpp"
#include "offload/server/output_schedule.hpp"
#include "offload/server/pending_iterations.hpp"
#include "offload/server/progress_notice.hpp"
#include "offload/server/settlement.hpp"
#include "offload/server/shared_files.hpp"
#include "offload/server/spill_files.hpp"
#include "offload/server/steering.hpp"
#include "offload/server/takeover.hpp"
#include "offload/server/view_refresh.hpp"
#include "offload/server/worker_pool.hpp"
#include "offload/server/world_membership.hpp"

namespace halcyon::offload {

/// The server of one node: pops the clients' events, knows what is complete, has the pool store it and run actions,
/// and gives the blocks back. Each of these is a class of its own; this one wires them, turns the loop, and winds up.
///
/// Threads: the event loop (run()) owns every part below; pool threads run jobs and connection threads deliver news,
/// both through the inbox. Files are written by the pool, records by a thread of their own. The loop itself touches
/// storage only to read spilled blocks back, and to sync, save the counts and make the view once more when it winds up.
class node_server {
  public:
    struct launch {
        model data;
        session_document document;
        segment shared;
        uint32_t generation = 1;
        bool has_own_core = false;  ///< none that a client runs on
        connections* peers = nullptr;
        journal::log_function log;
        job_events* job = nullptr;      ///< how servers of a server world agree; null: started one by one
        shared_files* files = nullptr;  ///< files that they write together; null as above
        /// When files may be stored; null: as far as this follows from the configuration alone.
        std::unique_ptr<turn> turns;
        std::unique_ptr<socket_file> found;  ///< where users find this server; null: they do not
    };
    /// Opens records and stores. Takes over what an earlier server of this segment left.
    static result<std::unique_ptr<node_server>> start(launch l);

    /// Serves until every client is gone and everything is stored. Returns the process's exit status.
    int run();

    // News from other threads.
    void client_joined(uint32_t client);
    void client_ended(uint32_t client);
    void client_brought_spill(uint32_t client, descriptor file);
    void steered(const steering::peer& from, std::shared_ptr<const std::string> message);
    void steerer_left(const steering::peer& gone);

  private:
    /// What start() opens before there is a server; the writer refers to the model.
    struct opened {
        std::unique_ptr<const model> data;
        run_records records;
        std::unique_ptr<output_writer> output;
        world_membership world;
    };
    node_server(launch l, opened o);

    void warn_of_configuration();
    bool work_once();
    void restate();
    bool somebody_rang();
    [[nodiscard]] int64_t next_timer_ns() const;
    bool drained();
    bool wind_up();
    bool come_to_rest();
    void show_at_end(bool of_all);
    [[nodiscard]] std::set<std::string> dead_writers() const;
    void at_length(server_act act, const std::function<void()>& work);

    std::unique_ptr<const model> data_;
    session_document document_;
    segment segment_;
    uint32_t generation_;
    bool has_own_core_;
    connections* peers_;
    journal::log_function log_;
    std::unique_ptr<output_writer> output_;

    inbox inbox_;
    progress_notice progress_;
    journal journal_;
    loss_report losses_;
    client_wishes wishes_;  ///< as the loop saw them before it last slept
    client_roster clients_;
    spill_files spill_files_;
    iteration_book book_;
    held_blocks held_;
    pending_iterations pending_;
    action_queue actions_;
    client_signals signals_;
    block_intake blocks_;
    steering steering_;
    event_intake events_;
    takeover takeover_;
    std::unique_ptr<turn> turns_;
    std::unique_ptr<socket_file> found_;
    iteration_pace pace_;
    view_refresh view_;
    file_assembly assembly_;
    settlement settlement_;
    file_queue files_;
    file_sharing sharing_;
    output_schedule schedule_;
    durability durability_;
    // The parts above refer to the pool, but use it only while the server lives.
    worker_pool pool_;        ///< joined before anything its jobs use is gone
    world_membership world_;  ///< last: the other servers call no part that is gone
};

}  // namespace halcyon::offload
