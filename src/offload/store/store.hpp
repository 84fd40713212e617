#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/turn.hpp"
#include "offload/model/model.hpp"
#include "offload/store/file_name.hpp"
#include "offload/store/store_traits.hpp"

namespace halcyon::offload {

/// One block as a store sees it. `data` stays valid and unchanged during the call.
struct block_view {
    const variable* var = nullptr;
    int64_t iteration = 0;
    int32_t rank = 0;   ///< writer's rank in the communicator of open
    int32_t block = 0;  ///< writer's block number; domain = rank * blocks_per_client + block
    block_shape shape;
    std::span<const std::byte> data;  ///< C order, ghosts included

    [[nodiscard]] int64_t domain() const { return int64_t{rank} * var->blocks_per_client + block; }
};

/// True when blocks of these shapes can be rows of one dataset.
[[nodiscard]] inline bool same_place(const block_shape& a, const block_shape& b) {
    return a.dimensions == b.dimensions && a.global == b.global && a.offset == b.offset &&
           a.ghost_before == b.ghost_before && a.ghost_after == b.ghost_after;
}

/// A block that should be there and is not. Readers find fill values and this record.
struct missing_block {
    uint32_t variable_id = 0;
    int64_t iteration = 0;
    int32_t rank = 0;
    int32_t block = 0;
    enum class why : uint8_t { client_died, skipped, corrupt, not_written, uncommitted } reason = why::client_died;
};

/// For logs and counts: what a client closed without having committed it.
[[nodiscard]] inline std::string uncommitted_text(int rank, const variable& v, int block) {
    return "rank " + std::to_string(rank) + " closed with block " + std::to_string(block) + " of '" + v.name +
           "' allocated and not committed: it is marked as missing";
}

/// One data file to write: blocks of one store, one writer (node or inline client), `iterations` whole iterations.
struct file_job {
    const model* data = nullptr;
    const store* target = nullptr;
    std::string path;                 ///< final path; the store writes to `path` + ".tmp", closes, then renames
    std::string writer;               ///< "n0003" (node), "c00012" (inline client) or all_servers
    int32_t ranks = 1;                ///< size of the communicator of open
    std::vector<int64_t> iterations;  ///< ascending
    std::vector<block_view> blocks;   ///< in order of (variable, domain, iteration)
    std::vector<missing_block> missing;
    std::vector<int64_t> unfinished;  ///< iterations that some client died before ending
    int32_t part = 0;                 ///< > 0: an early part of an iteration stored under pressure
    bool sync = false;                ///< fsync the file (a folder: all in it) and its directory before returning
    bool compress = true;             ///< false: when-idle compression is off now
    turn::stay* storing = nullptr;    ///< a store tells it of each piece before it writes that, holding no lock
};

struct file_report {
    int64_t raw_bytes = 0;          ///< of the blocks in memory
    int64_t stored_bytes = 0;       ///< size of the file, or of all files of the folder
    int64_t compress_ns = 0;        ///< transform and compression
    int64_t write_ns = 0;           ///< the rest, file creation and rename included
    int64_t overflowed_values = 0;  ///< finite values that became infinite in half precision
    bool patterns_refuted = false;  ///< files are no longer written after the pattern of earlier ones: it did not hold
};

/// One array of a file that several servers fill together (`collective: true`).
struct shared_dataset {
    static constexpr int64_t whole = -1;  ///< domain: all blocks of a placed variable, as one array without ghosts

    uint32_t variable_id = 0;
    int64_t domain = whole;
    int variant = 0;            ///< > 0: the shape or place changed inside the file
    int32_t rank = -1;          ///< writer's rank and block; -1 for the whole
    int32_t block = -1;         ///< as above
    block_shape shape;          ///< of one row
    int64_t row_count = 1;      ///< iterations of the file, or 1 for a time-invariant variable
    std::vector<int64_t> rows;  ///< those that hold a block, ascending
    bool covered = false;       ///< every element of those rows will be written, and there are no other rows
};

/// A file that several servers fill together: everything but the values.
struct shared_file {
    file_job about;  ///< without blocks
    std::vector<shared_dataset> datasets;
};

/// Writes blocks into data files of some format, each a file or a folder. Any thread may call it at any time; several
/// may write at once, each a data file of its own.
///
/// Contract, checked by the conformance kit in tests/offload/store/store_conformance.hpp: write() either leaves a
/// complete data file at `path` or, on failure, what was at `path` before and no temporary; writing the same job twice
/// gives equal contents; `data` is never modified. The name of a variable may hold any UTF-8; '/' separates groups.
class file_store {
  public:
    virtual ~file_store() = default;
    virtual result<file_report> write(const file_job& job) = 0;
    /// Leaves `file.about.path` + ".tmp": everything but the values, their room reserved where the file system can.
    /// Failure: nothing is left. A store whose format cannot be filled by several processes keeps this one.
    virtual result<void> lay_out(const shared_file& file) {
        return failure{error_kind::config,
                       "stores." + file.about.target->name + ".collective: " + not_collective(*file.about.target), 0};
    }
    /// Held by whoever else uses the library of the format in this process; null: that needs no lock.
    [[nodiscard]] virtual std::recursive_mutex* library_lock() { return nullptr; }
};

/// The view over all published files of a store in `directory`: one file in which every variable is one array over
/// (time, whole…). Not every format has one. Reads each published file once; keeps what it learnt between calls.
class view_builder {
  public:
    virtual ~view_builder() = default;
    /// Replaces the view by rename. Returns the number of iterations it shows. An iteration is shown only when each of
    /// the `writers` (e.g. n0000 … n0003) published it.
    virtual result<int64_t> rebuild(std::span<const std::string> writers) = 0;
    /// What the last view that was made cannot show as the configuration means it, a sentence each.
    [[nodiscard]] virtual std::vector<std::string> remarks() const { return {}; }
    /// How many iterations the last view that was made shows without anything of a writer that had ended before them.
    [[nodiscard]] virtual int64_t ended_short() const { return 0; }
};

/// What a store module and whoever loads it must have in common: the classes above and the values that they are given
/// are C++ objects, which a module of another release, or of another compiler, would take for something else.
struct store_interface {
    uint32_t version;      ///< raised with each change of this header, or of the model, that a size does not show
    uint32_t value_bytes;  ///< sizes of the values, added up
};
inline constexpr store_interface this_store_interface{
    3, static_cast<uint32_t>(sizeof(model) + sizeof(variable) + sizeof(layout) + sizeof(store) + sizeof(mesh) +
                             sizeof(block_view) + sizeof(missing_block) + sizeof(file_job) + sizeof(file_report) +
                             sizeof(shared_dataset) + sizeof(shared_file) + sizeof(store_traits) +
                             sizeof(result<file_report>))};

/// What a store module (libhalcyon_store_<type>.so, loaded RTLD_LOCAL) exports:
///   extern "C" const halcyon::offload::store_interface halcyon_store_interface = this_store_interface;
///   extern "C" const halcyon::offload::store_traits    halcyon_store_traits = {…};
///   extern "C" halcyon::offload::file_store*   halcyon_make_file_store();
/// and, where its traits say that it has a view,
///   extern "C" halcyon::offload::view_builder* halcyon_make_view_builder(const char* directory, const char*
///   simulation);
struct store_module {
    store_traits traits;
    file_store* (*make_file_store)() = nullptr;
    view_builder* (*make_view_builder)(const char* directory, const char* simulation) = nullptr;  ///< null: no view
};

/// Loads the module of `type`, looked for beside the running library or program, then in HALCYON_MODULE_PATH.
/// Failure (kind system): not found, not a store module, or one with another interface; the message lists where it was
/// looked for.
[[nodiscard]] result<store_module> load_store_module(const std::string& type);

/// What each store module publishes that is found in those places and can be loaded.
[[nodiscard]] std::vector<store_traits> known_formats();

}  // namespace halcyon::offload
