/* What a shared library offers to be an action of `type: module`: one C function, called on the server (inline: in
 * the client) each time the event happened in its scope. It must not keep any pointer of the context, must not call
 * MPI, and may take its time: the simulation does not wait for it. */
#ifndef HALCYON_ACTION_H
#define HALCYON_ACTION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HALCYON_ACTION_ABI 2

/** One block that is in memory for the event's iteration. Arrays have `dimensions` entries, C order. */
typedef struct halcyon_action_block {
    const char* variable; /**< full name */
    const char* type;     /**< "float32", … */
    const void* data;     /**< the elements, ghosts included; read only */
    int64_t bytes;
    int32_t rank; /**< of the writer, in the communicator of open */
    int32_t block;
    int32_t dimensions;
    const int64_t* extent; /**< of the block, ghosts included */
    const int64_t* global; /**< of the whole */
    const int64_t* offset; /**< of the block's interior in the whole */
    const int64_t* ghost_before;
    const int64_t* ghost_after;
} halcyon_action_block;

typedef struct halcyon_action_context {
    uint32_t abi; /**< HALCYON_ACTION_ABI */
    const char* simulation;
    const char* event;
    const char* action;
    const char* directory; /**< where the run keeps its files */
    int64_t iteration;     /**< in which the event was raised */
    int32_t rank;          /**< client that raised it; -1 for scope node and job */
    int32_t node;
    int32_t nodes;
    size_t block_count;
    const halcyon_action_block* blocks;
    /** Blocks of the event that were accepted and are not among `blocks`: to make room, they were stored before the
     * action ran. They are in the files. */
    size_t blocks_left_out;
    size_t option_count;
    const char* const* option_names;
    const char* const* option_values;
    /** Raises an event of scope job, for the iteration of this one, as a client's halcyon_signal would: all servers run
     * it, in one order with all others, after this action has returned. Returns 0; 1 when there is no event of that
     * name and scope; 2 when the servers do not form one world (`inline: true`, or the world died). May be called only
     * while the action runs, on its thread. */
    int (*raise_job)(const struct halcyon_action_context* context, const char* event);
    void* host; /**< Halcyon's own */
} halcyon_action_context;

/** Returns 0, or anything else for failure, which is counted and logged. */
typedef int (*halcyon_action_function)(const halcyon_action_context*);

#ifdef __cplusplus
}
#endif

#endif
