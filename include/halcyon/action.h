/* What a shared library offers to be an action of `type: module`: a plugin, an object that names up to three functions.
 *
 *     static int sum(void* state, const halcyon_action_context* now) { … return 0; }
 *     HALCYON_PLUGIN(my_sum, NULL, sum, NULL);
 *
 * A plugin runs in a process of its own beside the node's server (with `inline: true`: in the simulation's processes).
 * It sees the blocks of an event's iteration in shared memory, without a copy, and cannot write to them. It must not
 * keep any pointer of a context after its run, and must not call MPI. It may take its time, up to the action's
 * `timeout`: the simulation does not wait for it. A plugin that crashes, hangs or takes too much memory costs its own
 * work alone.
 *
 * Each struct begins with the bytes that its maker filled in: a plugin that was built against a later header looks
 * whether a member lies within `size_bytes` before it reads it. Lists are lists of pointers, so structs may grow. */
#ifndef HALCYON_ACTION_H
#define HALCYON_ACTION_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Up to 2 a module exported a bare function. Such modules are refused, and so is every other number. */
#define HALCYON_ACTION_ABI 3
#define HALCYON_ACTION_MAGIC 0x48414c50u

/** One block in memory. Arrays have `dimensions` entries, C order. */
typedef struct halcyon_action_block {
    uint64_t size_bytes;
    const char* variable;    /**< full name */
    const char* type;        /**< "float32", … */
    const char* unit;        /**< of halcyon.yaml; "" where it has none */
    const char* description; /**< likewise */
    const char* mesh;        /**< name of its mesh (see halcyon_action_mesh_named); "" none */
    const char* centering;   /**< "node" or "cell" */
    const void* data;        /**< the elements, ghosts included; read only: a write ends the process */
    int64_t bytes;
    int64_t iteration; /**< in which it was written: of a block that is written once an earlier one */
    int32_t rank;      /**< of the writer, in the communicator of open */
    int32_t block;     /**< of the writer: 0 … blocks-per-client - 1 */
    int32_t time_varying;
    int32_t dimensions;
    const int64_t* extent; /**< of the block, ghosts included */
    const int64_t* global; /**< of the whole */
    const int64_t* offset; /**< of the block's interior in the whole */
    const int64_t* ghost_before;
    const int64_t* ghost_after;
} halcyon_action_block;

/** A mesh of halcyon.yaml; names are those of variables. */
typedef struct halcyon_action_mesh {
    uint64_t size_bytes;
    const char* name;
    const char* type; /**< "rectilinear", "curvilinear", "unstructured" or "points" */
    size_t coordinate_count;
    const char* const* coordinates; /**< slowest dimension first */
    const char* cells;              /**< unstructured only, else "" */
    const char* cell_types;
    const char* cell_sizes;
} halcyon_action_mesh;

/** A parameter of halcyon.yaml. */
typedef struct halcyon_action_parameter {
    uint64_t size_bytes;
    const char* name;
    double value; /**< when the event was raised; where ranks differ: of the one that raised it, or of the first */
    int32_t is_mutable;
} halcyon_action_parameter;

/** What stays the same from init to finalize, and is there as long. */
typedef struct halcyon_action_host {
    uint64_t size_bytes;
    uint32_t abi;     /**< HALCYON_ACTION_ABI of the Halcyon that runs the plugin */
    int32_t isolated; /**< 1: in a process of its own; 0: in a process of the simulation */
    const char* simulation;
    const char* action;
    const char* directory; /**< where the run keeps its files */
    int32_t node;
    int32_t nodes;
    int32_t ranks; /**< of the communicator of open */
    size_t option_count;
    const char* const* option_names;
    const char* const* option_values;
    size_t mesh_count;
    const halcyon_action_mesh* const* meshes;
    /** Says why init fails. Returns 1, for `return host->fail(host, "no such file");`. */
    int (*fail)(const struct halcyon_action_host* host, const char* why);
    void* own; /**< Halcyon's own */
} halcyon_action_host;

/** One run. */
typedef struct halcyon_action_context {
    uint64_t size_bytes;
    const halcyon_action_host* host;
    const char* event;
    int64_t iteration; /**< in which the event was raised */
    double time;       /**< of the simulation: the parameter that `time:` names; NaN where there is none */
    int32_t rank;      /**< client that raised the event; -1 for scope node and job */
    size_t block_count;
    const halcyon_action_block* const* blocks; /**< of the iteration */
    /** Blocks with `time-varying: false` that were written before, and are still in memory: coordinates. */
    size_t once_count;
    const halcyon_action_block* const* once;
    /** Blocks of the event that were accepted and are not among `blocks`: to make room, they were stored before the
     * plugin ran. They are in the files. */
    size_t blocks_left_out;
    size_t parameter_count;
    const halcyon_action_parameter* const* parameters;
    /** Raises an event of scope job, for the iteration of this one, as a client's halcyon_signal would: all servers run
     * it, in one order with all others, after this run has returned. Returns 0; 1 when there is no event of that name
     * and scope; 2 when the servers do not form one world (`inline: true`, or the world died). */
    int (*raise_job)(const struct halcyon_action_context* now, const char* event);
    /** Says why this run fails. Returns 1, for `return now->fail(now, "…");`. */
    int (*fail)(const struct halcyon_action_context* now, const char* why);
    void* own; /**< Halcyon's own */
} halcyon_action_context;

/** What a module exports, by HALCYON_PLUGIN. All three are called by one thread. Null: there is nothing to do. */
typedef struct halcyon_action_plugin {
    uint64_t size_bytes;
    uint32_t magic;
    uint32_t abi;
    /** Once, before the first run. Returns 0, or anything else for failure: the plugin is not run. */
    int (*init)(const halcyon_action_host* host, void** state);
    /** Returns 0, or anything else for failure, which is counted and logged; the next run comes all the same. */
    int (*run)(void* state, const halcyon_action_context* now);
    /** Once, after the last run, where init returned 0 and the process has not been ended before. */
    void (*finalize)(void* state);
} halcyon_action_plugin;

#ifdef __cplusplus
#define HALCYON_ACTION_C extern "C"
#else
#define HALCYON_ACTION_C extern
#endif

/** Exports a plugin under the name that the action's `function` says in halcyon.yaml. */
#define HALCYON_PLUGIN(name, init, run, finalize)                                             \
    HALCYON_ACTION_C __attribute__((visibility("default"))) const halcyon_action_plugin name; \
    const halcyon_action_plugin name = {                                                      \
        sizeof(halcyon_action_plugin), HALCYON_ACTION_MAGIC, HALCYON_ACTION_ABI, init, run, finalize}

/** The value of an option of the action; `otherwise` where the configuration does not have it. */
static inline const char* halcyon_action_option(const halcyon_action_host* host, const char* name,
                                                const char* otherwise) {
    for (size_t i = 0; i < host->option_count; ++i)
        if (strcmp(host->option_names[i], name) == 0) return host->option_values[i];
    return otherwise;
}

/** A block by its writer: of the iteration, or one that was written once. NULL: it is not in memory. */
static inline const halcyon_action_block* halcyon_action_find(const halcyon_action_context* now, const char* variable,
                                                              int32_t rank, int32_t block) {
    for (size_t i = 0; i < now->block_count + now->once_count; ++i) {
        const halcyon_action_block* b = i < now->block_count ? now->blocks[i] : now->once[i - now->block_count];
        if (b->rank == rank && b->block == block && strcmp(b->variable, variable) == 0) return b;
    }
    return NULL;
}

/** NULL: there is no mesh of that name. */
static inline const halcyon_action_mesh* halcyon_action_mesh_named(const halcyon_action_host* host, const char* name) {
    for (size_t i = 0; i < host->mesh_count; ++i)
        if (strcmp(host->meshes[i]->name, name) == 0) return host->meshes[i];
    return NULL;
}

/** The value of a parameter; `otherwise` where there is none of that name. */
static inline double halcyon_action_parameter_value(const halcyon_action_context* now, const char* name,
                                                    double otherwise) {
    for (size_t i = 0; i < now->parameter_count; ++i)
        if (strcmp(now->parameters[i]->name, name) == 0) return now->parameters[i]->value;
    return otherwise;
}

#ifdef __cplusplus
}
#endif

#endif
