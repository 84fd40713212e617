#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/turn.hpp"
#include "offload/model/model.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload {

/// Turns blocks into published data files and these into views, where their format has one, for one writer (a node's
/// server or an inline client). Any thread may use it at any time: files are written side by side, views one after the
/// other. No call waits for a file that another thread writes.
class output_writer {
  public:
    /// `directory`: where relative paths of stores start. Loads the store modules. `run`: whose mark the directories of
    /// the stores have or get. Failure (usage): one of them belongs to another run; (config): see check_settings().
    static result<std::unique_ptr<output_writer>> open(const model& data, const std::string& directory,
                                                       std::string writer, int ranks, std::string run);
    virtual ~output_writer() = default;

    struct request {
        uint32_t store = 0;               ///< index in model::stores
        std::vector<int64_t> iterations;  ///< ascending, not empty
        std::vector<block_view> blocks;   ///< any order
        std::vector<missing_block> missing;
        std::vector<int64_t> unfinished;  ///< iterations that some client died before ending
        int32_t part = 0;                 ///< > 0: an early part, kept hidden until its iteration is published
        bool visible = true;              ///< false: hidden until publish_parts()
        bool sync = false;
        bool compress = true;
        turn::stay* storing = nullptr;  ///< told before each piece; null: nobody gives turns
    };
    /// Writes and (if visible) publishes one file. Hidden parts of the request's iterations are published first, so
    /// that whoever sees the file of an iteration sees all of it.
    virtual result<file_report> write(request r) = 0;

    /// What this server brings to a file that all servers write together: as for write(), without a part number.
    virtual result<file_job> share_of(request r) = 0;
    /// Writes everything of such a file but the values; one server does.
    virtual result<void> lay_out(uint32_t store, const shared_file& file) = 0;
    /// Gives the hidden parts of these iterations their names, before the file of the iterations gets its own.
    virtual result<void> publish_parts(uint32_t store, std::span<const int64_t> iterations) = 0;
    /// Held by whoever else uses the library in which this store writes its format.
    [[nodiscard]] virtual std::recursive_mutex& library_lock(uint32_t store) = 0;
    /// A file that all servers wrote was published; `synced`: with this server's share on the device.
    virtual void published(const std::string& path, bool synced) = 0;

    /// The next unused part number of an iteration, whatever an earlier server left.
    virtual int32_t next_part(uint32_t store, int64_t iteration) = 0;

    /// Which writers are meant; empty: none.
    using writers_meant = std::function<bool(const std::string& writer)>;
    /// Syncs what was written without sync so far, and what `others` on this machine have published in the same
    /// directories: clients that found no room and stored by themselves, or a server that is no more.
    virtual result<void> sync(const writers_meant& others) = 0;

    /// Replaces the view of each store whose format has one. `writers`: who must have published an iteration before it
    /// is shown.
    virtual result<int64_t> rebuild_views(const std::vector<std::string>& writers) = 0;

    /// Looks whether the stores' directories are still those that files went to. What is not there any more is made
    /// anew and reported once. Where that fails, or another run is there by now, nothing is stored until it succeeds.
    struct lost_directory {
        std::string what;
        int64_t files = 0;  ///< of this writer that were in it
    };
    virtual std::optional<lost_directory> look_for_lost_directories() = 0;
    /// How many of the files that this writer stored are not there any more. Failure (system): a directory cannot be
    /// listed, so nobody knows.
    [[nodiscard]] virtual result<int64_t> missing_files() const = 0;
    /// Removes the files that `writers`, which have died, were in the middle of, and the room for their next counts.
    virtual void remove_halves_of(const std::set<std::string>& writers) = 0;
    /// `writer` has ended without its last acts: publishes its hidden parts, and removes the file it was in the middle
    /// of.
    virtual result<void> publish_left_by(const std::string& writer) = 0;
    /// This writer is done: a new session may have the directories as far as it is concerned.
    virtual void release_directories() = 0;

    /// What the views cannot show as the configuration means it, each sentence once in the life of this writer.
    [[nodiscard]] virtual std::vector<std::string> new_view_remarks() = 0;

    /// How many iterations the views show without anything of a writer that had ended before them.
    [[nodiscard]] virtual int64_t ended_short() = 0;

    /// Absolute directory of a store.
    [[nodiscard]] virtual const std::string& directory_of(uint32_t store) const = 0;
};

/// The directory in which a run keeps its records: that of its first store, or `directory` when it has none.
std::string records_directory(const model& data, const std::string& directory);

}  // namespace halcyon::offload
