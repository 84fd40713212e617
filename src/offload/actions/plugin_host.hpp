#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "offload/model/model.hpp"
#include "offload/segment/session_document.hpp"

namespace halcyon::offload {

/// A block in the segment or in a client's spill file, by the entry that describes it, and which use of the entry it
/// is.
struct named_block {
    uint32_t client = 0;
    uint32_t entry = 0;
    uint64_t sequence = 0;
};

/// Runs the plugins of a server, each outside the server's process. Who implements this is handed to the server from
/// outside.
///
/// Threads: the event loop calls it, and no call waits for a plugin but begin() and finish(). What it tells comes on
/// a thread of its own, or within post().
class plugin_host {
  public:
    /// One run. Its blocks stay where they are until the outcome is told.
    struct task {
        uint32_t action_id = 0;
        uint32_t event_id = 0;
        int64_t iteration = 0;
        int32_t rank = -1;
        bool can_raise = false;  ///< there are other servers to raise events on
        uint64_t left_out = 0;
        std::vector<named_block> blocks, once;
        std::vector<double> parameters;
        struct spill {
            uint32_t client;
            int file;  ///< open as long as the server runs
        };
        std::vector<spill> spilled;  ///< the files in which some of the blocks lie
    };
    struct outcome {
        enum class kind : uint8_t {
            done,
            failed,       ///< it ran, and said that it failed
            ended,        ///< its process ended, or was ended, while it ran
            not_started,  ///< there was no process to run it in
        };
        kind how = kind::done;
        std::string why;               ///< a sentence
        std::vector<uint32_t> raised;  ///< events of scope job, in their order
        uint64_t unseen = 0;           ///< blocks of the task that it could not see, beside `left_out`
    };
    struct surroundings {
        const model* data = nullptr;
        const session_document* document = nullptr;
        std::string directory;  ///< of the run's records
        int segment = -1;       ///< descriptors, open as long as the server runs
        bool first = true;      ///< no server was before this one: what cannot be loaded fails begin()
        std::function<void(const std::string&)> log;
        /// A plugin's process ended that had nothing to run.
        std::function<void(uint32_t action_id, const std::string& why)> ended_idle;
    };

    virtual ~plugin_host() = default;
    /// Starts the plugins. Waits until they are loaded, for some seconds; they go on starting after that. Failure
    /// (config): one cannot be loaded, and why; unavailable: there is no program to run them in.
    virtual result<void> begin(surroundings where) = 0;
    /// Runs a plugin, which runs nothing else now.
    virtual void post(task what, std::function<void(const outcome&)> tell) = 0;
    /// Ends the plugins in order, each within its time. A sentence for each that did not. Once, and no post() after it.
    virtual std::vector<std::string> finish() = 0;
};

}  // namespace halcyon::offload
