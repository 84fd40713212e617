#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/error.hpp"
#include "offload/client/block_placement.hpp"
#include "offload/client/block_room.hpp"
#include "offload/client/completion.hpp"
#include "offload/client/fallback_writer.hpp"
#include "offload/client/open_blocks.hpp"
#include "offload/client/open_iteration.hpp"
#include "offload/client/place_in_job.hpp"
#include "offload/client/server_channel.hpp"
#include "offload/client/server_link.hpp"
#include "offload/client/server_loss.hpp"
#include "offload/client/spill_file.hpp"
#include "offload/client/steered_parameters.hpp"
#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// Counts that become halcyon_stats_t.
struct client_counts {
    uint64_t blocks = 0, bytes = 0, signals = 0;
    uint64_t visible_ns = 0, blocked_ns = 0;
    uint64_t skipped_blocks = 0, skipped_bytes = 0;
    uint64_t spilled_blocks = 0, spilled_bytes = 0;
    uint64_t inlined_blocks = 0, inlined_bytes = 0;
};

/// One client's side of the data path: what each call of the simulation means for its blocks, its iterations and its
/// server. Knows nothing of MPI.
///
/// Used by one thread at a time. Nothing here locks or allocates on the normal path; system calls are made only to
/// wake a sleeping server (end_iteration, signal) and to wait for room.
class client_session {
  public:
    /// With a server: `shared` is mapped and `link` connected. Without (`inline: true`): both are null and `fallback`
    /// does everything. `data` outlives the session and belongs to it: set_parameter changes it.
    client_session(model& data, place_in_job where, std::unique_ptr<segment> shared, std::unique_ptr<server_link> link,
                   std::unique_ptr<fallback_writer> fallback);

    result<void> write(std::string_view variable, int block, const void* data, int64_t bytes_or_negative);
    result<void*> alloc(std::string_view variable, int block);
    result<void> commit(std::string_view variable, int block);
    result<void> clear(std::string_view variable, int block);
    result<void> signal(std::string_view event);
    result<void> end_iteration();
    using stage = completion::stage;
    result<void> wait(int64_t iteration, stage which);
    result<void> set_parameter(std::string_view name, double value) { return blocks_.set_parameter(name, value); }
    /// Failure (usage): no such parameter.
    [[nodiscard]] result<double> parameter_value(std::string_view name) const;
    /// Null in a session without steerable parameters.
    [[nodiscard]] steered_parameters* steered() { return steered_ ? &*steered_ : nullptr; }
    /// What the simulation waited for since the last call is part of the time of that call.
    void count_time_since_last_call() { now_.add_time_since_last_call(); }
    /// Evaluated shape and type of a block, as the next write will have it.
    result<block_shape> describe(std::string_view variable, int block, scalar_type& type);

    /// Hands over what is committed, marks as missing what is not, and says goodbye to the server.
    result<void> finish();
    /// After finish(): waits until the server has stored everything. Failure (system): files could not be written.
    result<void> wait_until_drained() { return completion_->wait_until_drained(); }
    /// After finish(), in its place: waits until a server knows of everything. Where there is none any more, it is
    /// stored here.
    result<void> detach() { return completion_->detach(); }
    /// Lets a drained server exit; `build_view`: after it built the view for the last time.
    void release_server(bool build_view);
    /// Waits until the released server has gone through its last acts. False: there is none that could, because the
    /// client stores by itself (`inline: true`, or the last server was lost), or because it died before.
    bool wait_until_finished() { return completion_->wait_until_finished(); }

    [[nodiscard]] client_counts counts() const;
    /// As of open_iteration.
    [[nodiscard]] int64_t visible_in_no_phase_ns() const { return now_.visible_in_no_phase_ns(); }
    [[nodiscard]] int64_t iteration() const { return now_.number(); }
    [[nodiscard]] uint64_t arena_size() const { return served_ ? served_->room.arena_size() : 0; }
    [[nodiscard]] uint64_t arena_free();
    /// True where there was no server from the start, or since the loss of the last one was noticed.
    [[nodiscard]] bool stores_itself() const { return loss_.has_happened(); }
    /// The first iteration that this client has not ended and no server has stored, and marked what is missing in it.
    [[nodiscard]] int64_t first_unmarked() const;
    [[nodiscard]] uint32_t server_restarts() const {
        return segment_ ? segment_->header().tenure.load().restarts() : 0;
    }
    [[nodiscard]] const model& data() const { return model_; }

  private:
    /// What a session has whose blocks go through a segment.
    struct served_parts {
        served_parts(client_session& of, std::function<void(const std::string&)> complain);

        client_page& page;
        block_room room;
        server_channel channel;
        block_placement placement;
    };
    result<open_blocks::found> find(std::string_view name, int block);
    result<void> place(const open_blocks::found& b, const void* data);
    result<void> commit_in_process(const open_blocks::found& b);
    result<void> commit_in_segment(const open_blocks::found& b);
    result<void> add_to_fallback(const open_blocks::found& b, const void* data);
    void count(open_block& written);
    result<void> close_blocks(bool& open);
    result<void> give_up(const open_blocks::found& b);
    result<void> end_here();
    void make_steered();
    /// True when this client stores its blocks itself; notices a server that is gone for good.
    bool serverless() { return loss_.notice(served_ ? served_->channel.signals_sent() : 0); }

    model& model_;
    place_in_job where_;
    std::unique_ptr<segment> segment_;
    std::unique_ptr<server_link> link_;
    std::unique_ptr<fallback_writer> fallback_;
    open_iteration now_;
    open_blocks blocks_;
    std::unordered_map<std::string_view, uint32_t> event_ids_;
    spill_file spill_;
    server_loss loss_;
    std::optional<served_parts> served_;
    std::optional<completion> completion_;
    std::optional<steered_parameters> steered_;
    bool finished_ = false;
    uint64_t blocks_written_ = 0, bytes_written_ = 0, signals_ = 0;
};

}  // namespace halcyon::offload
