#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "base/error.hpp"
#include "halcyon/action.h"
#include "offload/model/model.hpp"
#include "offload/segment/segment.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload {

/// Runs the actions of events. Used by one thread at a time.
class action_runner {
  public:
    struct surroundings {
        std::string directory;  ///< of the run's records
        int node = 0;
        int nodes = 1;
        std::function<void(const std::string&)> log;  ///< writes one line
        /// Raises an event of scope job; false where that cannot be. Empty: it never can.
        std::function<bool(uint32_t event_id, int64_t iteration)> raise_job = {};
        /// The mark of an action, which outlives this process; empty: there are none.
        std::function<action_mark*(uint32_t action_id)> mark_of = {};
    };
    action_runner(const model& data, surroundings where) : data_(data), where_(std::move(where)) {}

    /// Loads every module the configuration names; one with a '/' in its path that is relative is looked for in
    /// `working_directory`, one without where the system looks for libraries. Failure (config): not found, or without
    /// that function.
    result<void> load_modules(const std::string& working_directory);

    /// What happened: `rank` is the raiser (-1 for scope node and job), `blocks` what is in memory for `iteration`,
    /// `left_out` how many blocks are not in memory any more.
    struct occasion {
        int64_t iteration = 0;
        int rank = -1;
        std::span<const block_view> blocks;
        size_t left_out = 0;
    };
    /// Whether an action of `e` gets blocks.
    [[nodiscard]] bool reads_blocks(const event& e) const;
    /// Runs all actions of `e` but those of type store, which the caller does. Failure: one or more failed, and all
    /// are named; the others ran all the same.
    result<void> run(const event& e, const occasion& o);

  private:
    result<void> run_module(const event& e, const action& a, const occasion& o);
    int raise_job(const char* event, int64_t iteration) const;

    const model& data_;
    surroundings where_;
    std::map<std::string, halcyon_action_function> functions_;  ///< by action name
};

}  // namespace halcyon::offload
