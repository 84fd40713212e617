#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "offload/actions/plugin_host.hpp"
#include "offload/model/model.hpp"
#include "offload/segment/segment.hpp"
#include "offload/server/action_occasion.hpp"
#include "offload/server/held_blocks.hpp"
#include "offload/server/inbox.hpp"
#include "offload/server/iteration_book.hpp"
#include "offload/server/journal.hpp"

namespace halcyon::offload {

/// The runs of each plugin that wait, of which one is with the host; a plugin that is slow delays no other. A plugin
/// that ended its process so often in a row as its action's `retries` says is put aside: its further runs are counted.
/// The segment keeps both, since a server that takes over must not begin anew.
///
/// The loop's thread alone uses it.
class plugin_lanes {
  public:
    plugin_lanes(const segment& shared, const model& data, iteration_book& book, held_blocks& held, journal& notes,
                 inbox& news)
        : segment_(shared),
          data_(data),
          book_(book),
          held_(held),
          journal_(notes),
          inbox_(news),
          lanes_(data.actions.size()) {}

    /// Null: there is none, and no plugin is run.
    void use(plugin_host* host, bool can_raise) {
        host_ = host;
        can_raise_ = can_raise;
    }
    /// Called with each event that a plugin raised.
    void on_raise(std::function<void(uint32_t event_id, int64_t iteration)> told) { raised_ = std::move(told); }

    /// Runs a plugin when its turn comes; `over` is called by the loop afterwards, never from within this.
    void run(uint32_t action_id, std::shared_ptr<const action_occasion> what, std::function<void()> over);
    [[nodiscard]] size_t waiting() const { return waiting_; }
    /// The process of a plugin ended, which had nothing to run.
    void ended_idle(uint32_t action_id, const std::string& why);

  private:
    struct wish {
        std::shared_ptr<const action_occasion> what;
        std::function<void()> over;
    };
    struct lane {
        std::deque<wish> waiting;
        bool runs = false;
    };
    void begin_next(uint32_t action_id);
    plugin_host::task task_of(uint32_t action_id, const action_occasion& what);
    void add_blocks(const std::vector<iteration_book::key>& keys, std::vector<named_block>& to, plugin_host::task& t);
    void finished(uint32_t action_id, int64_t iteration, const plugin_host::outcome& outcome);
    void count_end(uint32_t action_id);

    const segment& segment_;
    const model& data_;
    iteration_book& book_;
    held_blocks& held_;
    journal& journal_;
    inbox& inbox_;
    plugin_host* host_ = nullptr;
    bool can_raise_ = false;
    std::function<void(uint32_t, int64_t)> raised_;
    std::vector<lane> lanes_;  ///< [action]
    size_t waiting_ = 0;
};

}  // namespace halcyon::offload
