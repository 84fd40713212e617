#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "offload/actions/action_runner.hpp"
#include "offload/output/output_writer.hpp"
#include "offload/output/run_records.hpp"
#include "offload/segment/segment.hpp"
#include "offload/segment/session_document.hpp"
#include "offload/server/client_wishes.hpp"
#include "offload/server/connections.hpp"
#include "offload/server/idle_compression.hpp"
#include "offload/server/iteration_book.hpp"
#include "offload/server/job_events.hpp"
#include "offload/server/records_writer.hpp"
#include "offload/server/shared_files.hpp"
#include "offload/server/transfer_slot.hpp"
#include "offload/server/worker_pool.hpp"

namespace halcyon::offload {

/// The server of one node: pops the clients' events, knows what is complete, has the pool store it and run actions,
/// and gives the blocks back.
///
/// Threads: the event loop (run()) owns everything below; pool threads run jobs and connection threads deliver news,
/// both through `inbox_`. Files are written by the pool, records by a thread of their own. The loop itself touches
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
        std::function<result<void>(const std::string&)> log;
        job_events* job = nullptr;      ///< how servers of a server world agree; null: started one by one
        shared_files* files = nullptr;  ///< files that they write together; null as above
    };
    /// Opens records and stores. Takes over what an earlier server of this segment left.
    static result<std::unique_ptr<node_server>> start(launch l);
    ~node_server();

    /// Serves until every client is gone and everything is stored. Returns the process's exit status.
    int run();

    // News from other threads.
    void client_joined(uint32_t client);
    void client_ended(uint32_t client);
    void client_brought_spill(uint32_t client, descriptor file);

  private:
    explicit node_server(launch l);

    // events
    bool pop_events();
    bool pop_client(uint32_t client);
    void handle(uint32_t client, const event_record& e);
    void adopt_block(uint32_t client, uint32_t index, uint64_t sequence, bool handed);
    void refuse_block(iteration_book::key k, uint64_t sequence, bool handed, const std::string& why);
    void give_up(uint32_t client, const std::string& why);
    void restate();
    void note_absent(uint32_t client, const absence& a);
    void reject(uint32_t client, const std::string& what);
    void handle_signal(uint32_t client, const event_record& e);
    void iteration_ended(uint32_t client, int64_t iteration);
    void remember_last_iteration(uint32_t client);
    void run_if_all_signalled(uint32_t event_id);
    void run_node_events();
    uint64_t give_up_signals(uint32_t client);
    void client_gone(uint32_t client);
    void take_over();
    void put_aside_what_its_predecessor_died_in();
    [[nodiscard]] bool is_plausible(uint32_t client, int64_t iteration) const;
    void look_for_lost_clients();
    [[nodiscard]] bool spill_files_are_here() const;
    bool read_inbox();
    void tell(std::function<void()> news);

    // storing
    struct file_work;
    void complete_iterations();
    void finish_iteration(int64_t number);
    void tell_of_closed_before(int64_t number, const std::set<uint32_t>& clients);
    void flush_store(uint32_t store);
    std::shared_ptr<file_work> work_of(uint32_t store, std::vector<int64_t> iterations);
    void flush_wanted();
    void relieve_pressure();
    void load_blocks(file_work& work);
    void submit_file(const std::shared_ptr<file_work>& work);
    void submit_again(const std::shared_ptr<file_work>& work);
    void submit_waiting_files();
    void write_file(const std::shared_ptr<file_work>& work);
    void file_done(const std::shared_ptr<file_work>& work, const result<file_report>& outcome,
                   const file_record& record);
    void settle(const std::shared_ptr<file_work>& work, const result<file_report>& outcome, const file_record& record);
    result<block_view> view_of(const iteration_book::held& h, std::vector<std::vector<std::byte>>& spilled);
    void iteration_stored(int64_t number);
    void release(iteration_book::key k, block_state now);
    void release_if_done(iteration_book::key k);
    void tell_clients_of_loss(int64_t iteration, const std::string& why);
    void sync_if_wanted();
    [[nodiscard]] output_writer::writers_meant clients_that_stored() const;
    void synced(int64_t through, const result<void>& outcome);
    void tell_of_failure(const failure& why, int64_t first);
    void tell_of_unsaved_counts(const failure& why);
    void tell_of_lost(const std::optional<output_writer::lost_directory>& lost);
    void count_unwritten(iteration_book::key k, bool of_early_part);
    void rebuild_view_if_due();
    [[nodiscard]] int64_t view_pause_ns() const;
    [[nodiscard]] std::vector<std::string> all_writers() const;

    // files that all servers write together
    [[nodiscard]] bool is_shared(uint32_t store) const { return files_ != nullptr && data_.stores[store].collective; }
    void begin_sharing();
    void offer_if_ready(uint32_t store);
    void offer(uint32_t store, std::vector<int64_t> iterations);
    void share_done(uint32_t store, const shared_outcome& outcome);
    void take_back(uint32_t store, file_work& work, size_t iterations);
    bool withdraw_offers();
    void want_stored(uint32_t store, int64_t iteration);

    // actions
    struct waiting_action;
    void run_event(uint32_t event_id, int64_t iteration, int client, std::function<void()> done = {});
    void pin_blocks_for(waiting_action& action);
    void run_waiting_actions();
    void action_done(const waiting_action& ran, const result<void>& outcome);
    void tell_of_waiting_actions();
    [[nodiscard]] bool takes_events() const {
        return waiting_actions_.size() + job_events_.size() + raised_here_.size() < most_waiting_actions &&
               pinned_keys_ < most_pinned_keys;
    }
    void raise_job_event(int client, uint32_t event_id, int64_t iteration);
    void job_event_came(uint32_t event_id, int64_t iteration, bool own);
    void run_next_job_event();

    // the rest
    void note(const std::string& message);
    void warn_of_configuration();
    void write_ledger();
    void sum_up(bool finished);
    void save_counts();
    result<void> save_last_counts();
    void say_whether_saved(const result<void>& saved);
    bool count_lines_lost_with_predecessors();
    bool drained();
    [[nodiscard]] std::set<std::string> dead_writers() const;
    bool wind_up();
    void at_length(server_act act, const std::function<void()>& work);
    void look_for_lost_files();
    bool somebody_rang();
    int64_t next_timer_ns() const;

    model data_;
    session_document document_;
    segment segment_;
    uint32_t generation_;
    bool has_own_core_;
    connections* peers_;
    std::function<result<void>(const std::string&)> log_;
    bool told_of_log_ = false;  ///< that it cannot be written
    job_events* job_;
    shared_files* files_;
    std::unique_ptr<output_writer> output_;
    run_counts counts_;
    std::unique_ptr<action_runner> actions_;
    iteration_book book_;
    transfer_slot slot_;
    idle_compression idle_;

    client_wishes wishes_;  ///< as the loop saw them before it last slept

    std::vector<event_ring::consumer> events_;
    std::vector<return_ring::producer> returns_;
    std::vector<descriptor> spill_files_;
    std::vector<bool> gone_;             ///< clients that closed, died or were given up: they send no more events
    std::vector<bool> spills_;           ///< clients some of whose blocks lie in spill files
    std::vector<bool> spill_lost_;       ///< clients whose spill file could not be taken
    std::vector<bool> silent_;           ///< clients whose connection is over: they send no more files
    std::vector<bool> awaited_;          ///< clients that have not joined this server yet
    int64_t awaited_until_ns_ = 0;       ///< after that they are taken for dead; 0: no limit yet
    std::vector<uint32_t> first_block_;  ///< as first_blocks() of the model

    /// An event whose turn has not come.
    struct waiting_action {
        uint32_t event_id;
        int64_t iteration;
        int client;                               ///< that raised it, or -1
        std::vector<iteration_book::key> pinned;  ///< blocks that it will read
        size_t left_out;                          ///< blocks that it would read, if they were still in memory
        std::function<void()> done;
    };
    static constexpr int64_t notable_waiting_actions = 64;    ///< fewer are nothing that needs to be said
    static constexpr size_t most_waiting_actions = 1U << 16;  ///< then the rings fill up, and clients wait
    static constexpr size_t most_pinned_keys = 1U << 22;      ///< as well: 32 MiB
    size_t pinned_keys_ = 0;                                  ///< of all actions that wait or run
    std::deque<waiting_action> waiting_actions_;
    size_t running_actions_ = 0;

    struct job_event {
        uint32_t id;
        int64_t iteration;
        int raiser;  ///< client of this node, -1: another node, or an action
    };
    std::deque<int> raised_here_;       ///< raisers of the job events that are on their way
    std::deque<job_event> job_events_;  ///< in the common order; they run one after the other
    bool job_event_runs_ = false, told_of_full_queue_ = false;
    int64_t job_events_taken_ = 0;
    std::vector<bool> told_lost_;     ///< [event]: the log says that it cannot run
    std::set<uint32_t> told_closed_;  ///< clients of which the log says that others went on without them

    struct store_state {
        std::vector<int64_t> pending;  ///< complete iterations without a file
        int64_t wanted = -1;           ///< an action asked for the iterations up to this one
        size_t jobs = 0;
        size_t parts_under_way = 0;  ///< early parts that are with the pool
        // Of a file that all servers write together.
        std::shared_ptr<file_work> offered;
        int64_t wanted_by_any = -1;  ///< some server waits for this iteration
        int64_t told = -1;           ///< this server said that it waits for this one
        int64_t not_before_ns = 0;   ///< of the next attempt, after a failure
        int64_t give_up_ns = 0;      ///< 0: no attempt has failed
    };
    std::vector<store_state> stores_;
    std::deque<std::shared_ptr<file_work>> waiting_files_;  ///< not with the pool yet
    std::shared_ptr<file_work> unspilled_;                  ///< has blocks of spill files in memory
    int64_t stored_through_;                                ///< what the segment's header says of it is for the clients
    std::set<int64_t> stored_out_of_order_;
    bool progress_ = false;  ///< something to announce
    bool view_dirty_ = false, view_running_ = false, sync_running_ = false;
    static constexpr int64_t view_share = 10;  ///< making views takes no more than this part of a thread's time
    int64_t view_took_ns_ = 0;                 ///< the last one
    int64_t last_view_ns_ = INT64_MIN / 2;     ///< so that the first one is due as soon as there is something to see
    int64_t begin_ns_ = 0;
    int64_t shared_ns_ = 0;                              ///< time spent in files that all servers write
    int64_t slept_ns_ = 0;                               ///< of the loop
    int64_t earlier_busy_ns_ = 0, earlier_idle_ns_ = 0;  ///< of the servers whose work this one took over
    int64_t slot_delay_ns_ = 0;                          ///< of the iteration being finished

    std::mutex inbox_mutex_;
    std::vector<std::function<void()>> inbox_;
    std::atomic<bool> inbox_filled_{false};
    std::unique_ptr<records_writer> records_;
    std::unique_ptr<worker_pool>
        recorder_;                       ///< of one thread: records do not wait for actions, which may take for ever
    std::unique_ptr<worker_pool> pool_;  ///< last: joined before anything its jobs use is gone
};

}  // namespace halcyon::offload
