#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.hpp"
#include "offload/client/arena.hpp"
#include "offload/client/fallback.hpp"
#include "offload/client/silence.hpp"
#include "offload/client/spill_file.hpp"
#include "offload/segment/segment.hpp"
#include "offload/segment/session_document.hpp"

namespace halcyon::offload {

/// Counts that become halcyon_stats_t.
struct client_counts {
    uint64_t blocks = 0, bytes = 0, signals = 0;
    uint64_t visible_ns = 0, blocked_ns = 0;
    uint64_t skipped_blocks = 0, skipped_bytes = 0;
    uint64_t spilled_blocks = 0, spilled_bytes = 0;
    uint64_t inlined_blocks = 0, inlined_bytes = 0;
};

/// What the client's calls need of the process that serves it.
class server_link {
  public:
    virtual ~server_link() = default;
    /// False once the server is gone for good: the session then goes on without one.
    [[nodiscard]] virtual bool available() const = 0;
    /// False once the server of this client has ended, until its successor is known.
    [[nodiscard]] virtual bool has_server() = 0;
    /// Hands the descriptor of this client's spill file to the server, and to each that follows it.
    virtual result<void> share_spill_file(int fd) = 0;
    /// Kills the server of this generation, which does not answer any more: its successor takes over.
    /// False: it is out of this process' reach.
    virtual bool end_server(uint32_t generation) = 0;
    /// Only one client of the node at a time has what this returns, until it is closed or its process ends. Failure
    /// (system): another one has it (EADDRINUSE), or this process has no descriptor left.
    virtual result<descriptor> take_turn() = 0;
};

/// One client's side of the data path: blocks, events, ownership, full-policies. Knows nothing of MPI.
///
/// Used by one thread at a time. Nothing here locks or allocates on the normal path; system calls are made only to
/// wake a sleeping server (end_iteration, signal) and to wait for room.
class client_session {
  public:
    struct place_in_job {
        int rank = 0;  ///< in the communicator of open
        int size = 1;
        uint32_t client = 0;  ///< index on this node
    };

    /// With a server: `shared` is mapped and `link` connected. Without (`inline: true`): both are null and `fallback`
    /// does everything. `data` outlives the session and belongs to it: set_parameter changes it.
    client_session(model& data, place_in_job where, std::unique_ptr<segment> shared, std::unique_ptr<server_link> link,
                   std::unique_ptr<fallback_store> fallback);
    ~client_session();

    result<void> write(std::string_view variable, int block, const void* data, int64_t bytes_or_negative);
    result<void*> alloc(std::string_view variable, int block);
    result<void> commit(std::string_view variable, int block);
    result<void> clear(std::string_view variable, int block);
    result<void> signal(std::string_view event);
    result<void> end_iteration();
    enum class stage { accepted, stored, durable };
    result<void> wait(int64_t iteration, stage which);
    result<void> set_parameter(std::string_view name, double value);
    /// Evaluated shape and type of a block, as the next write will have it.
    result<block_shape> describe(std::string_view variable, int block, scalar_type& type);

    /// Hands over what is committed, marks as missing what is not, and says goodbye to the server.
    result<void> finish();
    /// After finish(): waits until the server has stored everything. Failure (system): files could not be written.
    result<void> wait_until_drained();
    /// After finish(), in its place: waits until a server knows of everything. Where there is none any more, it is
    /// stored here.
    result<void> detach();
    /// Lets a drained server exit; `build_view`: after it built the view for the last time.
    void release_server(bool build_view);
    /// Waits until the released server has gone through its last acts. False: there is none that could, because the
    /// client stores by itself (`inline: true`, or the last server was lost), or because it died before.
    bool wait_until_finished();

    [[nodiscard]] client_counts counts() const { return counts_; }
    /// Time in calls since the last iteration ended when nothing was written since, so that none is open.
    [[nodiscard]] int64_t visible_in_no_phase_ns() const {
        return phase_bytes_ > 0 ? 0 : static_cast<int64_t>(phase_visible_ns_);
    }
    [[nodiscard]] int64_t iteration() const { return iteration_; }
    [[nodiscard]] uint64_t arena_size() const { return arena_.size(); }
    [[nodiscard]] uint64_t arena_free();
    /// True where there was no server from the start, or since the loss of the last one was noticed.
    [[nodiscard]] bool stores_itself() const { return inline_; }
    /// The first iteration that this client has not ended and no server has stored, and marked what is missing in it.
    [[nodiscard]] int64_t first_unmarked() const;
    [[nodiscard]] uint32_t server_restarts() const {
        return segment_ ? segment_->header().tenure.load().restarts() : 0;
    }
    [[nodiscard]] const model& data() const { return model_; }

  private:
    static constexpr uint32_t no_entry = UINT32_MAX;

    /// Aligned as blocks in the segment are; null when there is none.
    struct free_block_memory {
        void operator()(std::byte* memory) const;
    };
    using block_memory = std::unique_ptr<std::byte, free_block_memory>;
    static block_memory take_block_memory(uint64_t bytes);

    /// This client's view of one (variable, block).
    struct open_block {
        enum class where { nowhere, in_segment, in_process } location = where::nowhere;
        uint32_t entry = no_entry;  ///< in_segment: index in the block table
        bool committed = false;
        int64_t written_in = -1;  ///< last iteration in which it was written or committed
        block_memory memory;      ///< in_process (policies skip and inline, and inline sessions)
        block_shape shape;        ///< evaluated for `shape_version`
        uint64_t shape_version = 0;
    };
    /// Where a new block goes.
    struct room {
        enum class kind { segment, skip, spill, run_inline } what = kind::segment;
        uint32_t entry = no_entry;
    };
    class timed_call;

    result<open_block*> find(std::string_view name, int block, const variable*& v);
    result<open_block*> find_allocated(std::string_view name, int block, const variable*& v);
    result<void> evaluate(open_block& b, const variable& v, int block);
    result<room> find_room(const variable& v, uint64_t bytes);
    bool try_entry(uint64_t bytes, bool constant, uint32_t& entry);
    result<void> wait_for_room();
    void complain(const std::string& what);
    void sleep_until_progress(uint32_t seen, int64_t most_ns);
    [[nodiscard]] std::byte* bytes_of(uint32_t entry) const;
    void take_back_released();
    void resynchronise();
    void take_back(uint32_t entry);
    void describe_entry(uint32_t entry, const variable& v, int block, const block_shape& shape);
    void hand_over(uint32_t entry);
    result<void> push(const event_record& e);
    result<void> push_block(event_kind kind, uint32_t entry);
    result<void> tell_absence(event_kind kind, const variable& v, int block, absence::cause why);
    void ring_server(bool (doorbell::*ring)());
    result<void> skip(const variable& v, int block, int64_t bytes);
    result<void> spill(const variable& v, int block, const block_shape& shape, const void* data);
    result<void> store_here(const variable& v, int block, const block_shape& shape, const void* data);
    result<void> give_up(open_block& b, const variable& v, int block);
    result<void> leave_server();
    result<void> settle_server();
    result<void> take_back_events();
    result<void> store_own(const checked_block& b);
    void store_for_the_dead();
    void store_remains_of(uint32_t client);
    bool serverless();
    result<void> wait_without_server(int64_t iteration, stage which);
    [[nodiscard]] result<void> still_served() const;

    model& model_;
    place_in_job where_;
    std::unique_ptr<segment> segment_;
    std::unique_ptr<server_link> link_;
    std::unique_ptr<fallback_store> fallback_;
    bool inline_ = false;  ///< no server: from the start, or since the last one was lost
    std::span<block_entry> table_;
    client_page* page_ = nullptr;
    event_ring::producer events_;
    return_ring::consumer returns_;
    arena arena_;
    std::vector<uint32_t> free_entries_;
    /// What an entry holds of the arena. The entry itself says so too, but lies where others could write.
    struct piece {
        uint64_t offset = 0;
        uint64_t bytes = 0;  ///< 0: none
    };
    std::vector<piece> taken_;  ///< per entry
    std::vector<bool> in_use_;  ///< per entry
    std::unordered_map<std::string_view, uint32_t> variable_ids_, event_ids_;
    std::vector<uint32_t> first_block_;  ///< as first_blocks(), which is the order of blocks_
    std::vector<open_block> blocks_;
    spill_file spill_;
    std::optional<silence> silence_;  ///< of the server; nullopt: there is none
    uint64_t parameter_version_ = 1;
    uint64_t sequence_ = 0;
    tenure tenure_seen_;
    int64_t iteration_ = 0;
    int64_t signals_sent_ = 0;  ///< to a server
    bool finished_ = false;
    result<void> left_;  ///< how it went when the last server was lost
    client_counts counts_;
    // of the open iteration
    int64_t phase_begin_ns_ = 0, phase_end_monotonic_ns_ = 0, phase_compute_ns_ = 0;
    uint64_t phase_visible_ns_ = 0, phase_blocked_ns_ = 0, phase_bytes_ = 0;
};

}  // namespace halcyon::offload
