/* Taking turns at a file system with other jobs, in C: a program says when it is about to do I/O, waits for its turn,
 * and gives the turn back. Follows CALCioM (Dorier 2014, section 6.2.2). Links no MPI.
 *
 *     halcyon_io_init(NULL, "/scratch/run", &h);
 *     ...
 *     halcyon_io_prepare(h, &info);       what is known of the accesses to come
 *     halcyon_io_inform(h);               a phase begins
 *     halcyon_io_wait(h);                 until it is our turn
 *     write(...);                         any I/O below /scratch
 *     halcyon_io_release(h);              the phase is over
 *     halcyon_io_complete(h);
 *     ...
 *     halcyon_io_finalize(&h);
 *
 * A turn belongs to the whole job. Each process has a handle of its own, and the agent of its node speaks for all of
 * them. Processes that do I/O each on its own account call all of these functions. Where all processes take part in a
 * collective call (MPI_File_write_all), one of them calls halcyon_io_wait, tells the others, and they call
 * halcyon_io_join: if each waited by itself, some could be held back while the others are in the collective call.
 *
 * Without a coordinator nothing waits: halcyon_io_init succeeds, halcyon_io_check says yes, halcyon_io_wait returns at
 * once, and halcyon_io_status says that and why. When the coordinator or the agent falls silent,
 * halcyon_io_wait returns after 1 s (HALCYON_COORDINATE_PATIENCE_MS), and no later one waits until they are back.
 *
 * A program that needs turns at two file systems releases the one before it waits for the other. No turn that is held
 * is given back by itself while the program waits for another one, since I/O may be under way there. Two programs that
 * each hold a turn for which the other one waits stand still until a coordinator takes one of these turns away: after
 * 4.5 s in which nothing moved (`stalled`), at the latest when somebody has waited for 30 s (`starvation`) and 5 s more
 * have passed (`stop`). What the program does there afterwards goes on beside the others' I/O.
 *
 * Jobs that use no storage target in common do not wait for each other. A job tells its targets with what else it
 * prepares (halcyon_io_info); the numbers are the site's, alike for all jobs of a coordinator: on Lustre the index of
 * the OST, as `lfs getstripe` says it. They are those of all processes of the job that are in a phase. If one of these
 * does not know its own, or one moves data in a phase that it has not announced, by calls under
 * `halcyon run --coordinate`, the job counts as using all targets until its phase is over. Until then, targets are
 * added and none is taken away. Nobody checks them: a job that tells too few moves beside others that use the same
 * ones, and slows them down and itself.
 *
 * In a program that `halcyon run --coordinate` started, calls on the file system go on without waiting while the
 * process holds a turn of its own; at other times each of them waits for the job's turn as before.
 *
 * Every function returns HALCYON_OK (0) or one of halcyon_error; halcyon_io_error_message() then says, for the calling
 * thread, what failed and the way out. No function throws, exits or aborts. A handle is used by one thread at a time,
 * and not by processes that are forked off: these call halcyon_io_init themselves.
 *
 * These can come from every function, and are not repeated: a usage error for a null pointer, for a handle that is
 * not open (a copy of one that was finalized, too), for one with which another call has not returned, and for one that
 * belongs to the process that this one was forked off; a system error where the process has no memory left; an internal
 * error.
 */
#ifndef HALCYON_IO_H
#define HALCYON_IO_H

#include <halcyon/errors.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a phase does for the most part. */
typedef enum halcyon_io_access {
    HALCYON_IO_WRITE = 0,
    HALCYON_IO_READ = 1,
    HALCYON_IO_METADATA = 2 /**< creating, opening, renaming and removing files */
} halcyon_io_access;

/** The most storage targets that are told of a process at a file system. Whoever uses more counts as using all. */
#define HALCYON_IO_MAX_TARGETS 160

/** What is known of accesses to come, of this process. Set size_bytes, and what is known of the rest; 0: not known. */
typedef struct halcyon_io_info {
    uint64_t size_bytes;      /**< sizeof(halcyon_io_info): a program that was built with an earlier release knows fewer
                               * members, and tells nothing of the others */
    int64_t bytes;            /**< that this process will move in the phase */
    int64_t files;            /**< that it will open or create; each counts as 4 KiB where `bytes` is not known */
    halcyon_io_access access; /**< what most of the accesses do */
    double alone_s;           /**< time that they take when no other job is there, in seconds */
    double period_s;          /**< from the begin of such a phase to the begin of the next, in seconds */
    const uint32_t* targets;  /**< storage targets (OSTs, bricks) of all files that this process will use, in any order.
                               * The caller's: halcyon_io_prepare copies them */
    uint64_t target_count;    /**< of `targets`; 0: not known, it may use all of them. So does a process with more than
                               * HALCYON_IO_MAX_TARGETS different ones, or with more than 65,536 numbers, which are not
                               * read: halcyon_io_prepare succeeds, and halcyon_io_error_message says so */
} halcyon_io_info;

/** Whether anybody gives turns. */
typedef enum halcyon_io_coordination {
    HALCYON_IO_COORDINATED = 0,
    HALCYON_IO_SILENT = 1,       /**< nothing was heard of the agent or the coordinator for too long: nobody waits */
    HALCYON_IO_UNCOORDINATED = 2 /**< no coordinator is known for this path, or no agent could be started */
} halcyon_io_coordination;

/** What a handle is doing. */
typedef enum halcyon_io_stage {
    HALCYON_IO_IDLE = 0,   /**< no phase */
    HALCYON_IO_ASKING = 1, /**< a phase was announced, and has not begun */
    HALCYON_IO_HOLDING = 2 /**< it may do I/O: from halcyon_io_wait to halcyon_io_release */
} halcyon_io_stage;

/** The room for names of jobs in a status, the ending zero included. */
#define HALCYON_IO_MAX_HOLDERS 512
/** The room for a reason in a status, likewise. */
#define HALCYON_IO_MAX_REASON 256

/** How things are at the file system of a handle. Times are in seconds, counts are of this process since
 * halcyon_io_init. */
typedef struct halcyon_io_status_t {
    uint64_t size_bytes; /**< sizeof(halcyon_io_status_t), set by the caller: a later release may know more members, and
                          * fills in no more than there are here */
    halcyon_io_coordination coordination;
    halcyon_io_stage stage;
    int our_turn;    /**< 1: this job may do I/O now; 0: another job has the turn, or this one must ask */
    int others_move; /**< 1: other jobs do I/O there now, in their turn or, by the policy, in ours; 0: none is known */
    double
        expected_wait_s;   /**< until it is this job's turn: 0 if it is; -1: not known. Known after halcyon_io_inform */
    double waited_s;       /**< in halcyon_io_wait, halcyon_io_join */
    int64_t bytes;         /**< that this process moved there in its turns */
    int64_t bytes_unasked; /**< that it moved out of turn */
    uint64_t steps_unasked;  /**< times that it went on since nobody gives turns, or nobody answered */
    uint64_t steps_starving; /**< times that it went on since it had waited for as long as anybody may (36 s) */
    char holders[HALCYON_IO_MAX_HOLDERS]; /**< jobs that have the turn at this job's targets, one a line, the first
                                           * eight; "": this one has it, or not known */
    char reason[HALCYON_IO_MAX_REASON];   /**< not coordinated, or silent: why; else, if bytes do not count: why */
    int64_t load; /**< jobs in a phase of I/O there, this one included, when the coordinator spoke of its wait last;
                   * 0: not known. Known as expected_wait_s is, until the turn comes */
} halcyon_io_status_t;

/** The turns of one process at one file system. */
typedef struct halcyon_io_turns* halcyon_io_handle;

/** Prepares to take turns at the file system that `path` (a file or folder, which need not exist) lies on. Who
 * coordinates it, the environment says, where `halcyon run --coordinate` started the program; otherwise `config`, a
 * coordinators.yaml. `config` NULL: the file that HALCYON_COORDINATORS_FILE names, else
 * /etc/halcyon/coordinators.yaml, if that exists. Starts the job's agent on this node, unless it runs. Succeeds where
 * nobody coordinates: then nothing waits, and halcyon_io_error_message says why. Blocks: until the agent answers, 1 s
 * at most.
 * @retval HALCYON_ERROR_CONFIG the file that was named is wrong (file, line and key path are in the message)
 * @retval HALCYON_ERROR_USAGE `path` is empty
 * @retval HALCYON_ERROR_SYSTEM the file that was named cannot be read; *h is NULL after any error */
HALCYON_API int halcyon_io_init(const char* config, const char* path, halcyon_io_handle* h);

/** Adds what is known of the accesses to come: copies *info on top of what was prepared before. Each level of the
 * program (application, library) may add what it knows, and takes that away with halcyon_io_complete. Of bytes, files,
 * times and targets, the lowest level counts that knows them, which is the outermost of the program; of the kind of
 * access, the topmost. Others are told by halcyon_io_inform. Blocks: never.
 * @retval HALCYON_ERROR_USAGE info->size_bytes is not the size of a halcyon_io_info; a number is negative or not
 * finite; no such kind of access; targets are counted, and the pointer is null; more than 64 levels */
HALCYON_API int halcyon_io_prepare(halcyon_io_handle h, const halcyon_io_info* info);

/** Takes away what was prepared last. Blocks: never.
 * @retval HALCYON_ERROR_USAGE nothing is prepared */
HALCYON_API int halcyon_io_complete(halcyon_io_handle h);

/** A phase begins: asks for the turn, and tells what is prepared. Once a phase has begun, tells only what is known now;
 * targets that come to be known then are added, and a turn that is held stays.
 * Ask when the I/O could begin: an application that gets the turn and moves nothing for 4.5 s loses it to others that
 * wait. Blocks: never.
 * @retval HALCYON_ERROR_USAGE the handle is not open */
HALCYON_API int halcyon_io_inform(halcyon_io_handle h);

/** Whether it is our turn, in *authorized: 1, and then the turn is held as after halcyon_io_wait; or 0. While the turn
 * is held: 0 says that others are to have it, so that halcyon_io_wait or halcyon_io_release should come soon. Loads
 * from shared memory, without a system call but to wake a sleeping agent, and to ask the system for file locks that a
 * process of the job has inherited over a fork. Blocks: never.
 * @retval HALCYON_ERROR_USAGE no phase was announced: call halcyon_io_inform first */
HALCYON_API int halcyon_io_check(halcyon_io_handle h, int* authorized);

/** Waits for our turn, and holds it. While it is held, between two accesses: gives way if others are to have the turn,
 * and waits until it is ours again; otherwise returns at once. A program that calls this between its accesses, at least
 * every 4 s, can be interrupted; one that holds the turn for 5 s after it was called back loses the turn. Blocks: until
 * it is our turn. After 30 s (`starvation`) the coordinator stops the others, which have 5 s for that (`stop`); where
 * no turn has come 1 s later, the call goes on out of turn. HALCYON_COORDINATE_STARVATION_MS sets another limit.
 * Without a sign of life of the agent or the coordinator the call blocks for 1 s at most. A handler of a signal must
 * not leave this call, or halcyon_io_join, by siglongjmp: until its end the process would count as one that waits, and
 * the handle as one in use.
 * @retval HALCYON_ERROR_USAGE no phase was announced: call halcyon_io_inform first */
HALCYON_API int halcyon_io_wait(halcyon_io_handle h);

/** Holds a turn that another process of this job waited for and holds: for collective I/O, after that process has told
 * so. Goes on even if the turn is called back meanwhile, since the others need this process. All of them release the
 * turn, the one that waited for it last (after a barrier). Blocks: until the agent of this node has heard of the
 * turn, 1 s at most; then it goes on out of turn, which is counted.
 * @retval HALCYON_ERROR_USAGE no phase was announced: call halcyon_io_inform first; or the turn is held already */
HALCYON_API int halcyon_io_join(halcyon_io_handle h);

/** The phase, or this step of it, is over: gives the turn back, or asks for it no more. Blocks: never.
 * @retval HALCYON_ERROR_USAGE no phase was announced */
HALCYON_API int halcyon_io_release(halcyon_io_handle h);

/** Fills *status, of which the caller has set size_bytes. A program that can do something else first asks after
 * halcyon_io_inform how long it would wait, calls halcyon_io_release, and comes back later. Blocks: never.
 * @retval HALCYON_ERROR_USAGE status->size_bytes is not the size of a halcyon_io_status_t */
HALCYON_API int halcyon_io_status(halcyon_io_handle h, halcyon_io_status_t* status);

/** Gives back what is held. *h becomes NULL. The agent ends when all processes of the job on its node have ended.
 * Blocks: never.
 * @retval HALCYON_ERROR_USAGE *h is NULL or was made by the process that this one was forked off (then it stays) */
HALCYON_API int halcyon_io_finalize(halcyon_io_handle* h);

/** The message of the last failed call of this thread, or of the last that went well and had something to say: that
 * nobody coordinates, say. "" when there is none. Valid until the thread's next call. */
HALCYON_API const char* halcyon_io_error_message(void);

#ifdef __cplusplus
}
#endif

#endif
