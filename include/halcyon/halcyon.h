/* Halcyon's client interface in C: a simulation hands its output over in shared memory and goes on computing.
 *
 * Every function returns HALCYON_OK (0) or one of halcyon_error; halcyon_error_message() then says, for the calling
 * thread, which thing failed, the value seen, the value expected and the way out. No function throws, exits or
 * aborts. A handle is used by one thread at a time, and not by processes that are forked off; calls that do otherwise
 * are refused. MPI must be initialised before halcyon_open and finalised after halcyon_close; MPI_COMM_WORLD stays the
 * simulation's own.
 *
 * Each function lists its errors. These can come from every function, and are not repeated: a usage error for a null
 * pointer, for a handle that is not open (a copy of one that was closed, too), for one with which another call has not
 * returned, and for one that was opened by the process that this one was forked off; a system error where the process
 * has no memory left; an internal error.
 *
 * Each function says when it blocks. A call that waits for the server of the node goes on waiting when that server dies
 * or gives no sign of life for `resources.server.hang-timeout`: a new server takes over,
 * `resources.server.max-restarts` times at most. After that no server is left. The call then ends, and this client
 * stores its blocks by itself, in files of its own, for the rest of the session: calls may take as long as the storage
 * needs, and report its failures as system errors.
 */
#ifndef HALCYON_HALCYON_H
#define HALCYON_HALCYON_H

#include <halcyon/errors.h>
#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How far the data of an iteration has come. */
typedef enum halcyon_stage {
    HALCYON_ACCEPTED = 0, /**< in shared memory: outlives the simulation's processes, where there is a server */
    HALCYON_STORED = 1,   /**< in published files: outlives Halcyon's processes */
    HALCYON_DURABLE = 2   /**< synced: outlives the machine's power */
} halcyon_stage;

/** The type of a variable's elements. */
typedef enum halcyon_type {
    HALCYON_INT8 = 0,
    HALCYON_INT16,
    HALCYON_INT32,
    HALCYON_INT64,
    HALCYON_UINT8,
    HALCYON_UINT16,
    HALCYON_UINT32,
    HALCYON_UINT64,
    HALCYON_FLOAT32,
    HALCYON_FLOAT64
} halcyon_type;

/** The highest number of dimensions of a block. */
#define HALCYON_MAX_DIMENSIONS 7

/** What the configuration says one block of this client looks like in memory, ghosts included. */
typedef struct halcyon_block_info {
    halcyon_type type;
    int rank;                                   /**< number of dimensions; 0 = a scalar */
    int64_t dimensions[HALCYON_MAX_DIMENSIONS]; /**< the first `rank` are set; C order */
    int64_t bytes;
} halcyon_block_info;

/** A session: one process's connection to the server of its node. */
typedef struct halcyon_session* halcyon_handle;

/** Counts of one client since halcyon_open. Everything that was not the normal path has a count of its own. */
typedef struct halcyon_stats_t {
    uint64_t size_bytes;     /**< sizeof(halcyon_stats_t), set by the caller: a later release may know more members, and
                              * fills in no more than there are here; an earlier one leaves those that it does not know,
                              * and sets size_bytes to the size that it knows */
    int64_t iteration;       /**< the iteration now open; the first is 0 */
    uint64_t blocks;         /**< blocks accepted */
    uint64_t bytes;          /**< bytes accepted */
    uint64_t signals;        /**< signals sent */
    uint64_t visible_ns;     /**< time spent inside Halcyon's calls between open and close */
    uint64_t blocked_ns;     /**< of it: waiting for room (policy block) */
    uint64_t skipped_blocks; /**< dropped because the buffer was full (policy skip) */
    uint64_t skipped_bytes;
    uint64_t spilled_blocks; /**< sent through a spill file because the buffer was full (policy spill) */
    uint64_t spilled_bytes;
    uint64_t inlined_blocks; /**< stored by this client itself because the buffer was full (policy inline) */
    uint64_t inlined_bytes;
    uint64_t server_restarts;  /**< servers of this node that died and were replaced */
    uint64_t arena_bytes;      /**< size of this client's part of the segment */
    uint64_t arena_free_bytes; /**< of it, free now (blocks the server has released count as free) */
} halcyon_stats_t;

/** What an access does to its file. */
typedef enum halcyon_operation {
    HALCYON_ACCESS_OPEN = 0,
    HALCYON_ACCESS_CLOSE,
    HALCYON_ACCESS_READ,
    HALCYON_ACCESS_WRITE,
    HALCYON_ACCESS_COPY, /**< into its file */
    HALCYON_ACCESS_SYNC
} halcyon_operation;

/** The room for a path in a forecast, its ending zero included. */
#define HALCYON_MAX_FORECAST_PATH 512

/** An access to a file that this process is expected to make. Times are in seconds. */
typedef struct halcyon_expected_access {
    halcyon_operation operation;
    int new_file;       /**< 1: an open of a file that the process did not use before */
    int64_t offset;     /**< where in the file; -1: not known, or the operation has none */
    int64_t bytes;      /**< likewise */
    double begins_s;    /**< from the moment of the forecast; 0: it should have begun */
    double deviation_s; /**< standard deviation of begins_s */
    double duration_s;
    double probability;                   /**< 0 to 1: that it comes, and all before it of its thread came */
    int thread;                           /**< of this process, counted from 0 in the order of their first calls */
    char path[HALCYON_MAX_FORECAST_PATH]; /**< of a new file: the name it is likely to have; "": not known */
} halcyon_expected_access;

/** What this process is about to do. A phase is a burst of accesses between two pauses; with several threads, what is
 * left of it is the sum of theirs, and it ends when the last of them does. */
typedef struct halcyon_forecast_t {
    /* Set by the caller. */
    uint64_t size_bytes;               /**< sizeof(halcyon_forecast_t): as in halcyon_stats_t */
    halcyon_expected_access* accesses; /**< where the accesses go; may be NULL with a capacity of 0 */
    int64_t capacity;                  /**< how many there is room for */
    /* Filled in. */
    int64_t count; /**< of the accesses, in the order in which they begin */
    int complete;  /**< 1: these are all that were asked for; 0: there was no room for more, or no more is known */
    int threads;   /**< whose accesses are forecast */
    int threads_left_out; /**< they have not done for long what was expected of them, or could not be asked */
    int64_t phase_calls_done;
    int64_t phase_calls_left; /**< 0: the phase is over */
    int64_t phase_bytes_left;
    double phase_time_left_s;
    double phase_confidence; /**< 0 to 1, for what is left of the phase */
    double next_phase_s;     /**< until the next phase begins; -1: not known */
    double
        next_phase_deviation_s;   /**< how far off such forecasts were lately: root mean square of the last 16 errors */
    double next_phase_confidence; /**< 0 to 1: how often such a time was right so far */
    double next_phase_earliest_s; /**< nine of ten phases begin between this and next_phase_latest_s; -1: no forecast
                                     has */
    double next_phase_latest_s;   /**< been compared with what came, or none ever was so late as this one; likewise */
    int64_t rest_buffer_bytes;    /**< a buffer that holds what is still written in this phase */
    int64_t phase_buffer_bytes;   /**< a buffer that holds what is written in a whole phase */
    double flush_in_s;  /**< when to empty such a buffer: the longest time in which no access is expected begins
                         * then; -1: none is known */
    double flush_for_s; /**< how long it is; -1: none is known */
} halcyon_forecast_t;

/** Sets a parameter for the next halcyon_open of this process, whether that succeeds or not (handle NULL), or, for a
 * parameter declared `mutable` in the configuration, from now on for this client's blocks. Collective agreement is not
 * needed: extents and offsets of blocks are evaluated per client. A `steerable` parameter gets the value of rank 0 on all
 * ranks at the end of the iteration. Blocks: never.
 * @retval HALCYON_ERROR_USAGE with a handle: no such parameter, or not mutable; the value is not finite, or outside the
 * parameter's bounds. With handle NULL, halcyon_open reports these. */
HALCYON_API int halcyon_set_parameter(halcyon_handle h, const char* name, double value);

/** Gives the value that a parameter of the configuration has now on this client. For a parameter declared `steerable`,
 * that is the same on all ranks between two ends of an iteration, unless the program sets it on some of them only.
 * Blocks: never.
 * @retval HALCYON_ERROR_USAGE no such parameter */
HALCYON_API int halcyon_get_parameter(halcyon_handle h, const char* name, double* value);

/** Collective over `comm`: reads the configuration on rank 0, starts (or finds) the server of each node, maps the
 * segment and touches its pages. Fails on all ranks alike, with rank and host in the message; then *h is NULL. A rank
 * that lacks something (memory, threads, its working directory) does not leave the others waiting. `comm` keeps its
 * error handler, which is not called: an error of MPI is a system error of this call. Blocks: until all ranks have
 * called it and each server answers, which may take a server `resources.server.hang-timeout` at most.
 * @retval HALCYON_ERROR_CONFIG the configuration is wrong (file, line and key path are in the message), cannot be read,
 * or a client's part of the buffer cannot hold one iteration (the message names the size needed); a module of an action
 * cannot be loaded
 * @retval HALCYON_ERROR_USAGE MPI does not run; `comm` is no communicator of one group; a session with this
 * configuration is already open in this process; an output directory holds a run that must not be replaced, or is in
 * use; a parameter that was set for this session does not exist, is not finite or is outside its bounds
 * @retval HALCYON_ERROR_SYSTEM the node's memory cannot hold the segment; a directory cannot be made or written; no
 * thread or memory is left; MPI failed
 * @retval HALCYON_ERROR_UNAVAILABLE no server could be started or found; nothing runs without one, unless the
 * configuration says `inline: true` */
HALCYON_API int halcyon_open(const char* config_path, MPI_Comm comm, halcyon_handle* h);

/** halcyon_open with a Fortran communicator handle. Blocks and fails as halcyon_open does. */
HALCYON_API int halcyon_open_f(const char* config_path, MPI_Fint comm, halcyon_handle* h);

/** Copies this client's block of `variable` (block 0) into shared memory and hands it to the server. `data` holds the
 * layout's elements contiguously, C order (Fortran: the reversed dimensions). Returns when `data` may be reused. After
 * an error the block is not written; the iteration stays open. Blocks: where the buffer is full and the variable's
 * policy is `block`, until the server has freed room; with the policies `spill` and `inline`, while this client writes
 * the block to storage. `skip` drops the block, counts it, and is no error.
 * @retval HALCYON_ERROR_CONFIG an extent of the layout or place cannot be evaluated with the parameters' present values
 * @retval HALCYON_ERROR_USAGE unknown variable; no such block; already written in this iteration (or at all, with
 * `time-varying: false`); allocated by halcyon_alloc and not cleared; no room can ever come, since the block is larger
 * than this client's part of the buffer, or blocks that are not cleared fill that part
 * @retval HALCYON_ERROR_SYSTEM the spill file (policy `spill`) or this client's own file (policy `inline`) cannot be
 * written, or the blocks that the last server left cannot be stored
 * @retval HALCYON_ERROR_UNAVAILABLE the server took this client for dead, and stores no more of it */
HALCYON_API int halcyon_write(halcyon_handle h, const char* variable, const void* data);

/** halcyon_write for clients that own several blocks of a variable: `block` counts from 0, below the variable's
 * `blocks-per-client`. Each (variable, block) is written at most once an iteration. Blocks and fails as halcyon_write
 * does. */
HALCYON_API int halcyon_write_block(halcyon_handle h, const char* variable, int block, const void* data);

/** halcyon_write_block that checks the caller's idea of the block. The language bindings call this one. Blocks and
 * fails as halcyon_write does, and:
 * @retval HALCYON_ERROR_USAGE `bytes` is not what the layout says; nothing is written */
HALCYON_API int halcyon_write_bytes(halcyon_handle h, const char* variable, int block, const void* data, int64_t bytes);

/** Fills *info with the type and shape that this client's block has now (mutable parameters can change it). Evaluates
 * nothing that has not changed, so bindings may call it at every write. Blocks: never.
 * @retval HALCYON_ERROR_CONFIG an extent of the layout or place cannot be evaluated with the parameters' present values
 * @retval HALCYON_ERROR_USAGE unknown variable, or no such block */
HALCYON_API int halcyon_describe(halcyon_handle h, const char* variable, int block, halcyon_block_info* info);

/** Zero copy: reserves the block in shared memory and returns its address, 64-byte aligned, in state *private*: only
 * the simulation touches it. When there is no room the variable's policy decides: `block` waits; `spill`, `inline` and
 * `skip` give private memory of the process, which halcyon_commit writes to the spill file, stores, or drops (`skip`:
 * the block is counted, and halcyon_clear frees the memory). After an error *data is NULL. Blocks: where the buffer is
 * full and the variable's policy is `block`, until the server has freed room.
 * @retval HALCYON_ERROR_CONFIG an extent of the layout or place cannot be evaluated with the parameters' present values
 * @retval HALCYON_ERROR_USAGE unknown variable; no such block; already allocated, or written in this iteration; no room
 * can ever come, as of halcyon_write
 * @retval HALCYON_ERROR_SYSTEM the process has no memory for the block, or the blocks that the last server left cannot
 * be stored
 * @retval HALCYON_ERROR_UNAVAILABLE the server took this client for dead, and stores no more of it */
HALCYON_API int halcyon_alloc(halcyon_handle h, const char* variable, int block, void** data);

/** private → shared-read: from now on simulation and server both only read the block. Blocks: while this client's event
 * ring is full; where there was no room at halcyon_alloc, while this client writes the block to storage (policies
 * `spill` and `inline`).
 * @retval HALCYON_ERROR_USAGE unknown variable; no such block; not allocated, or already committed
 * @retval HALCYON_ERROR_SYSTEM the spill file (policy `spill`) or this client's own file (policy `inline`) cannot be
 * written
 * @retval HALCYON_ERROR_UNAVAILABLE the server took this client for dead, and stores no more of it */
HALCYON_API int halcyon_commit(halcyon_handle h, const char* variable, int block);

/** shared-read → server's: the simulation forgets the address; the server may transform, store and free the block.
 * Blocks: while this client's event ring is full.
 * @retval HALCYON_ERROR_USAGE unknown variable; no such block; not allocated, or not committed
 * @retval HALCYON_ERROR_UNAVAILABLE the server took this client for dead, and stores no more of it; the address is
 * forgotten all the same */
HALCYON_API int halcyon_clear(halcyon_handle h, const char* variable, int block);

/** Raises an event of the configuration; its actions run on the server, in the event's scope. An action that fails is
 * counted, and is no error here. Blocks: while this client's event ring is full, which has room for
 * `max-pending-signals` beside the events of its blocks; with `inline: true`, while the actions run.
 * @retval HALCYON_ERROR_USAGE no such event
 * @retval HALCYON_ERROR_SYSTEM no server is left (or `inline: true`), and an action of type `store` cannot write its
 * file
 * @retval HALCYON_ERROR_UNAVAILABLE the server took this client for dead */
HALCYON_API int halcyon_signal(halcyon_handle h, const char* event);

/** Ends this client's iteration: nothing more will come for it. The node's iteration is complete when every live
 * client ended it. Blocks: while this client's event ring is full; with `inline: true`, or when no server is left,
 * while this client writes the file that the iteration completes.
 *
 * With `steerable` parameters in the configuration the call is collective over the communicator of open, and also blocks
 * until rank 0 has called it: all ranks then have the values of rank 0, which has taken over what users asked for by
 * `halcyon steer`. The values that the end of iteration n gives hold from iteration n + 1 on. The call uses MPI, on a
 * communicator of its own: with MPI_THREAD_FUNNELED, call it from the main thread. It takes part whatever it returns.
 * After MPI_Finalize, or when rank 0 has closed its session, the values stay as they are.
 * @retval HALCYON_ERROR_SYSTEM without a server: the file cannot be written, and its blocks are lost; with steerable
 * parameters: MPI failed, and the values stay as they are. The iteration is over all the same
 * @retval HALCYON_ERROR_UNAVAILABLE the server took this client for dead, and stores no more of it; the iteration stays
 * open */
HALCYON_API int halcyon_end_iteration(halcyon_handle h);

/** Waits until the iteration, and all before it, of this node has reached `stage`. Blocks: HALCYON_ACCEPTED never;
 * HALCYON_STORED and HALCYON_DURABLE until the server has published, or also synced, the files of the iteration, for
 * which all clients of the node must end it.
 *
 * When no server is left (the last one was lost), or there never was one (`inline: true`):
 *
 * - HALCYON_ACCEPTED returns at once, and promises less: what this client has not stored yet lies in the memory of its
 * own process, and ends with it.
 * - HALCYON_STORED writes all ended iterations that this client still holds into files of its own, and returns when
 * these are published. This holds for the blocks of this client and for iterations that the servers had stored; the
 * other clients of the node store theirs in their own calls.
 * - HALCYON_DURABLE does the same, and then syncs: with `inline: true` this client's files, otherwise those of the
 * node's servers and of all clients that are published by then.
 *
 * @retval HALCYON_ERROR_USAGE this client has not ended the iteration, or there is no such stage
 * @retval HALCYON_ERROR_SYSTEM files of this iteration or of one before it could not be written or synced, or were
 * lost, whether anybody waited for them then or not; the message says why. No server left: likewise of this client's
 * own files, or the blocks that the last server left could not all be stored
 * @retval HALCYON_ERROR_UNAVAILABLE the server took this client for dead, and stores no more of it; its log says why.
 * That no server is left is no error */
HALCYON_API int halcyon_wait(halcyon_handle h, int64_t iteration, halcyon_stage stage);

/** Fills *stats, of which the caller has set size_bytes. Blocks: never.
 * @retval HALCYON_ERROR_USAGE stats->size_bytes is not the size of a halcyon_stats_t */
HALCYON_API int halcyon_stats(halcyon_handle h, halcyon_stats_t* stats);

/** Says what this process will do next: its next `n` accesses to files, over all threads, and what is left of the phase
 * of I/O that it is in. Of the process, not of a session: `h` may be NULL, and MPI need not run. Learnt while the
 * program runs; the first times are known when something has come twice. Blocks: never; an answer takes some 40 µs for
 * each thread.
 * @retval HALCYON_ERROR_USAGE there is no room for n accesses, or forecast->size_bytes is not the size of a
 * halcyon_forecast_t
 * @retval HALCYON_ERROR_SYSTEM there is no memory to look ahead in
 * @retval HALCYON_ERROR_UNAVAILABLE nothing learns the process' I/O; start the program by `halcyon run --predict --
 * PROGRAM` */
HALCYON_API int halcyon_forecast(halcyon_handle h, int64_t n, halcyon_forecast_t* forecast);

/** halcyon_forecast of all accesses that begin within the next `seconds`, as many as there is room for. Blocks and
 * fails as halcyon_forecast does, and:
 * @retval HALCYON_ERROR_USAGE `seconds` is negative, or more than 1e9 */
HALCYON_API int halcyon_forecast_window(halcyon_handle h, double seconds, halcyon_forecast_t* forecast);

/** Collective over the communicator of open: returns when all is stored (`close: detach`: when all is accepted). *h
 * becomes NULL, whether it succeeds or not, and the session is over. Blocks committed and not cleared are handed over;
 * those allocated and not committed are no data: they are marked as missing in the open iteration, and counted. An
 * error of one rank is an error of all. Blocks: until all ranks have called it and the servers of all nodes have stored
 * everything; with `close: detach`, until all ranks have called it and the servers know of everything.
 * @retval HALCYON_ERROR_USAGE *h is NULL or was opened by the process that this one was forked off (then it stays);
 * after MPI_Finalize, what this process wrote is handed over, and nobody waits until it is stored, or it is stored
 * without a server, and nobody makes the view: the message says so
 * @retval HALCYON_ERROR_SYSTEM files could not be written, and with them their blocks; the message says which first. Or
 * all were, but not the counts of what is missing in them
 * @retval HALCYON_ERROR_UNAVAILABLE the server took this client for dead */
HALCYON_API int halcyon_close(halcyon_handle* h);

/** The message of the last failed call of this thread, or of the last that went well and had something to say: that it
 * waited for a server that gave no sign of life, say. "" when there is none. Valid until the thread's next call. */
HALCYON_API const char* halcyon_error_message(void);

/** "0.1.0 (Open MPI)" */
HALCYON_API const char* halcyon_version(void);

#ifdef __cplusplus
}
#endif

#endif
