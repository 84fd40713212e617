#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "offload/actions/action_runner.hpp"
#include "offload/client/fallback_writer.hpp"
#include "offload/client/unended_iterations.hpp"
#include "offload/output/output_writer.hpp"
#include "offload/output/run_records.hpp"

namespace halcyon::offload {

/// Runs the actions of the configuration in the client, synchronously. Opens its files and modules at first use, so
/// that a client that never needs it carries nothing.
class inline_writer final : public fallback_writer {
  public:
    struct surroundings {
        std::string directory;  ///< where relative paths start
        int rank = 0;
        int ranks = 1;
        int node = 0;
        int nodes = 1;
        bool alone = false;  ///< `inline: true`: there never was a server that runs modules
        std::string run;     ///< as for output_writer::open()
    };
    inline_writer(const model& data, surroundings where) : data_(data), where_(std::move(where)) {}

    /// Opens records, stores and modules now: `inline: true` wants its errors at open.
    result<void> open();

    result<void> store_now(const variable& v, int block, int64_t iteration, const block_shape& shape,
                           std::span<const std::byte> data) override;
    result<void> store_left(left_blocks left) override;
    result<void> add(const variable& v, int block, int64_t iteration, const block_shape& shape,
                     std::span<const std::byte> data) override;
    result<void> note_missing(const variable& v, int block, int64_t iteration, absence::cause why) override;
    result<void> end_iteration(int64_t iteration) override;
    result<void> add_phase(int64_t iteration, const phase& seen) override;
    result<void> add_steering(const steering_record& s) override;
    result<void> count_lost(int64_t signals, int64_t phases) override;
    result<void> signal(const event& e, int64_t iteration) override;
    result<void> count_policies(const policy_counts& of_client) override;
    result<void> settle_server(run_counts counted, int64_t phases_taken) override;
    void log(const std::string& line) override;
    result<void> flush() override;
    [[nodiscard]] result<void> all_stored(int64_t through) const override;
    result<void> sync(reach whose) override;
    /// Saves the counts as finished. Failure: something was lost on the way.
    result<void> finish() override;

    /// Readers find fill in them; a file without blocks marks them.
    result<void> mark_unended(const unended_iterations& found);

    result<void> rebuild_views(const std::vector<std::string>& writers);

  private:
    struct kept_block {
        block_view view;
        std::vector<std::byte> data;
    };
    result<void> write_store(uint32_t store);
    void look_for_lost_directories();
    void say(const std::string& message);
    void say_once(const std::string& message);
    result<void> write(output_writer::request request, int64_t complete_ns);
    void save_counts();

    const model& data_;
    surroundings where_;
    std::unique_ptr<output_writer> output_;
    std::unique_ptr<run_records> records_;
    std::unique_ptr<action_runner> actions_;
    run_counts counts_;
    std::vector<kept_block> kept_;
    std::vector<missing_block> missing_;  ///< of iterations whose file is still to come
    std::set<std::string> told_;          ///< what is said once
    struct store_state {
        std::vector<int64_t> pending;  ///< ended iterations without a file
        int64_t wanted = -1;           ///< an action asked for the iterations up to this one
    };
    std::vector<store_state> stores_;
    int64_t lost_from_ = INT64_MAX;  ///< the first iteration of which a file could not be written
    std::string why_lost_;
};

}  // namespace halcyon::offload
