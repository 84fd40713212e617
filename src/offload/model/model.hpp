#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.hpp"
#include "offload/model/expression.hpp"
#include "offload/model/extents.hpp"

namespace halcyon::offload {

/// Stores keep tables of their own under this name: no variable and no group of variables may have it.
inline constexpr const char* reserved_name = ".halcyon";

enum class scalar_type : uint8_t { int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64 };

/// Bytes of one element.
[[nodiscard]] int64_t size_of(scalar_type type);

/// What happens to a block that finds no room.
enum class full_policy : uint8_t { block, spill, skip, run_inline };

enum class scope : uint8_t { client, node, job };
enum class centering : uint8_t { node, cell };
enum class compression : uint8_t { none, gzip, zstd, when_idle };
enum class precision : uint8_t { full, bitround, half };
enum class mesh_type : uint8_t { rectilinear, curvilinear, unstructured, points };
enum class reader : uint8_t { as_written, time_series, maps };
/// How servers take turns at the storage: not at all, with those of their job, or with other jobs.
enum class turns : uint8_t { none, transfer_slots, coordinator };

/// The word of the configuration: "float32", "block", "inline", "when-idle", "time-series", …
[[nodiscard]] std::string_view name_of(scalar_type value);
[[nodiscard]] std::string_view name_of(full_policy value);
[[nodiscard]] std::string_view name_of(scope value);
[[nodiscard]] std::string_view name_of(centering value);
[[nodiscard]] std::string_view name_of(compression value);
[[nodiscard]] std::string_view name_of(precision value);
[[nodiscard]] std::string_view name_of(mesh_type value);
[[nodiscard]] std::string_view name_of(reader value);
[[nodiscard]] std::string_view name_of(turns value);

/// A parameter: a number that layouts and places may use. `rank`, `size` and `block` are built in.
struct parameter {
    std::string name;
    double value = 0;
    bool is_mutable = false;    ///< may be set after open
    double min = 0;             ///< lower bound of a mutable parameter
    std::optional<double> max;  ///< upper bound of a mutable parameter; none = unbounded
    bool is_steerable = false;  ///< mutable, with bounds: users change it through the server while the simulation runs
};

/// Steerable parameters of a configuration, at most: the mailbox in the segment has room for so many.
inline constexpr size_t most_steerable = 64;

struct layout {
    std::string name;
    scalar_type type = scalar_type::float32;
    std::vector<expression> dimensions;  ///< C order
    std::string where;                   ///< `file:line: key.path` of it in the configuration, for messages
};

/// Where a client's block lies in the whole array of a variable. All expressions are evaluated per client and block.
struct place {
    std::string name;
    std::vector<expression> global;  ///< shape of the whole
    std::vector<expression> offset;  ///< of the block's interior (without ghosts) in the whole
    struct ghost_width {
        expression before, after;
    };
    std::vector<ghost_width> ghost;  ///< per dimension; empty = none
    std::string where;               ///< as for layout
};

struct mesh {
    std::string name;
    mesh_type type = mesh_type::rectilinear;
    std::vector<std::string> coordinates;       ///< variables, slowest dimension first
    std::string cells, cell_types, cell_sizes;  ///< unstructured only: variables
};

/// A curve: variables plotted against one another.
struct curve {
    std::string name, x, y;
};

struct variable {
    uint32_t id = 0;   ///< index in model::variables
    std::string name;  ///< full name: groups separated by '/'
    uint32_t layout_id = 0;
    std::optional<uint32_t> place_id;
    std::optional<uint32_t> mesh_id;
    std::string unit, description;
    offload::centering centered = centering::cell;
    std::string store;  ///< name of a store; "" = not stored
    bool visualizable = false;
    bool time_varying = true;
    int blocks_per_client = 1;
    offload::precision precision = precision::full;
    int significant_bits = 0;  ///< of `bitround`: kept bits of the mantissa
    offload::compression compression = compression::none;
    int compression_level = 4;
    full_policy when_full = full_policy::block;
    std::string mesh_where;  ///< as layout::where; of the group that says it for the variable, where one does
};

struct action {
    std::string name;
    std::string type;                            ///< "store", "log", "module"
    std::string store;                           ///< type store: which
    std::string module, function;                ///< type module: shared library and symbol (see halcyon/action.h)
    std::string module_where, function_where;    ///< as layout::where
    std::map<std::string, std::string> options;  ///< handed to the module as they are
};

struct event {
    uint32_t id = 0;
    std::string name;
    offload::scope scope = scope::client;
    std::string scope_where;  ///< as layout::where
    std::vector<uint32_t> action_ids;
};

struct store {
    std::string name;
    std::string type = "hdf5";
    std::string path;  ///< directory, relative to the working directory of open
    int iterations_per_file = 1;
    std::chrono::nanoseconds view_interval{std::chrono::seconds(1)};
    std::string view_where;        ///< as layout::where; "" where the configuration leaves the interval to Halcyon
    bool durable = false;          ///< sync every file before its blocks are released
    bool collective = false;       ///< one file written by all servers (needs a server world)
    std::string collective_where;  ///< as layout::where
    bool index = false;            ///< min/max of every chunk
    reader expected_reader = reader::as_written;
    bool checksum = false;
    bool replace_existing = false;  ///< `existing: replace`: delete an earlier run's files instead of refusing
    std::string type_where;         ///< as layout::where; of the store, where it does not say its type
    std::string path_where;         ///< as layout::where
};

struct buffer_settings {
    int64_t bytes = int64_t{256} << 20;          ///< whole segment of a node
    full_policy when_full = full_policy::block;  ///< default of the variables
    int64_t blocks_per_client = 0;               ///< block table entries; 0 = derived from the configuration
    int64_t max_pending_signals = 1024;
    std::string spill_directory = "/tmp";
    int64_t max_spill_bytes = int64_t{16} << 30;
    bool huge_pages = true;
    // As layout::where; without file and line where the configuration does not have the key.
    std::string size_where = "resources.buffer.size", blocks_where = "resources.buffer.blocks-per-client",
                spill_where = "resources.buffer.spill-directory";
};

/// The least hang-timeout: a server that has nothing to do shows twice a second that it lives.
inline constexpr std::chrono::nanoseconds least_hang_timeout = std::chrono::seconds(1);

struct server_settings {
    int threads = 1;                        ///< threads of the action pool
    std::chrono::nanoseconds spin{20'000};  ///< busy wait before sleeping
    offload::turns turns = turns::none;     ///< when its files may be stored
    int max_restarts = 3;
    std::chrono::nanoseconds hang_timeout{std::chrono::seconds(60)};  ///< without a sign of life, while clients wait
    std::chrono::nanoseconds retry{std::chrono::seconds(5)};  ///< how long a file that cannot be written is tried again
    std::string log_directory;                                ///< "" = the first store's path
    std::string log_where = "resources.server.log-directory";  ///< as buffer_settings::size_where
};

/// Everything halcyon.yaml says, checked. Immutable but for the values of parameters.
struct model {
    std::string simulation;
    bool run_inline = false;       ///< `inline: true`
    bool detach_at_close = false;  ///< `close: detach`
    int servers_per_node = 1;
    std::string servers_where;  ///< as layout::where
    buffer_settings buffer;
    server_settings server;
    std::vector<parameter> parameters;
    std::vector<layout> layouts;
    std::vector<place> places;
    std::vector<mesh> meshes;
    std::vector<curve> curves;
    std::vector<variable> variables;
    std::vector<action> actions;
    std::vector<event> events;
    std::vector<store> stores;

    /// Slots of bound expressions: 0 rank, 1 size, 2 block, then the parameters in order.
    static constexpr uint16_t first_parameter_slot = 3;

    /// Full name → index of a variable. Filled by parse_model(); while it is empty find_variable() searches.
    struct name_hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    std::unordered_map<std::string, uint32_t, name_hash, std::equal_to<>> variable_index;

    /// Null when there is none. Names are compared byte by byte.
    [[nodiscard]] const variable* find_variable(std::string_view name) const;
    [[nodiscard]] const event* find_event(std::string_view name) const;
    [[nodiscard]] const store* find_store(std::string_view name) const;
    [[nodiscard]] parameter* find_parameter(std::string_view name);
    [[nodiscard]] const parameter* find_parameter(std::string_view name) const;
    /// Indices of the steerable parameters, in the order of the configuration: the same on all processes of a run.
    [[nodiscard]] std::vector<uint32_t> steerable() const;

    /// Sets a mutable parameter. Usage failure: unknown name, not mutable, not finite, outside its bounds.
    [[nodiscard]] result<void> set_parameter(std::string_view name, double value);
};

/// Per variable the number of its block 0 among all blocks of one client; at the end, how many these are.
[[nodiscard]] std::vector<uint32_t> first_blocks(const model& m);

/// Reads a configuration. `file_name` is used in messages only. `overrides` replace parameter values before anything
/// is evaluated; an unknown name or a value outside a parameter's bounds is a usage failure. Failures: kind config,
/// message `file:line: key.path: …`.
[[nodiscard]] result<model> parse_model(std::string_view yaml, std::string_view file_name,
                                        const std::map<std::string, double>& overrides);

/// One client's block of a variable, evaluated: its shape (with ghosts), its place in the whole.
struct block_shape {
    extents dimensions;  ///< of the block in memory, ghosts included; C order
    extents global;      ///< of the whole; equal to `dimensions` less ghosts when the variable has no place
    extents offset;      ///< of the block's interior in the whole
    extents ghost_before;
    extents ghost_after;
    int64_t bytes = 0;  ///< of the block in memory

    /// Extent of the block without ghosts.
    [[nodiscard]] extents interior() const { return less_ghosts(dimensions, ghost_before, ghost_after); }
};

/// Who asks: the built-in parameters of expressions.
struct block_owner {
    int rank = 0;  ///< in the communicator of open
    int size = 1;
    int block = 0;  ///< of the client: 0 … blocks_per_client - 1
};

/// Evaluates layout and place of `v`, without allocation unless it fails. Failures (kind config): division by zero, a
/// negative extent or one that is no whole number, a product that overflows 2^62 bytes, an interior that leaves the
/// whole.
[[nodiscard]] result<block_shape> shape_of(const model& m, const variable& v, const block_owner& owner);

/// Whether the blocks of `v` keep shape and place for the whole run: neither depends on a mutable parameter.
[[nodiscard]] bool keeps_place(const model& m, const variable& v);

/// A bound on the bytes a block of `v` may have while mutable parameters stay within theirs; exact when the layout
/// depends on none. nullopt when it depends on one without `max`, or no bound can be shown (a divisor that may be 0).
[[nodiscard]] std::optional<int64_t> largest_bytes(const model& m, const variable& v, const block_owner& owner);

}  // namespace halcyon::offload
