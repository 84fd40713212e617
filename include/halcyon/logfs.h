/* Log containers in C: files that many processes write at a time, without waiting for each other. Each process appends
 * to a log of its own, and an index says which piece of the file lies where; to readers it is one file. A container is
 * a directory in place of the file. Links no MPI.
 *
 *     halcyon_logfs_options options = {.size_bytes = sizeof options, .has_rank = 1, .rank = rank};
 *     halcyon_logfs_open("/scratch/checkpoint", HALCYON_LOGFS_WRITE | HALCYON_LOGFS_CREATE, &options, &h);
 *     halcyon_logfs_pwrite(h, field, sizeof field, rank * (int64_t)sizeof field, NULL);   each rank its part
 *     halcyon_logfs_sync(h);                                                              on the device
 *     halcyon_logfs_close(&h);
 *
 * Sizes and offsets are in bytes, times in nanoseconds (those of a file since 1970). A handle has no position and no
 * descriptor.
 *
 * A handle reads what was written through it, and what others had published when it was opened or refreshed last. They
 * publish when they sync, settle or close. Where writes overlap, the last one counts: by epoch, by time, and at one
 * time by rank. What a process writes is later than all that its handle has read or refreshed, whatever the clocks of
 * nodes say. Any number of handles and processes may write a file at a time, also several with one rank.
 *
 * When the process is killed, all data of calls that had returned are in the file. When the node crashes, all data are
 * in it that halcyon_logfs_sync had synced.
 *
 * Every function returns HALCYON_OK (0) or one of halcyon_error. halcyon_logfs_error_message() then says, for the
 * calling thread, what failed and the way out, halcyon_logfs_error_number() the errno. No function throws, exits or
 * aborts.
 *
 * Any number of threads may call these functions at a time, also with one handle: their calls take turns.
 * halcyon_logfs_close waits for the calls that are under way with its handle; those that come later are refused. None
 * may be called by a handler of a signal.
 *
 * A process that is forked off has none of its parent's handles: calls with one are refused, and the child opens the
 * container itself. The parent's handles stay as they are. fork() waits for calls of other threads that are under way.
 *
 * The functions do the same in a process that `halcyon run` started. With `--log`, the files in a container are never
 * taken for the program's own: they are not made containers again, and the options of `--log` do not concern them. The
 * calls on them are not recorded there and take no turns; under `halcyon run` without `--log` they are and do, as those
 * on any file. Who opens the same path by open(2) below the directory of `--log` reads and writes the same file.
 *
 * These can come from every function, and are not repeated: a usage error for a null pointer, for a handle that is not
 * open (a copy of one that was closed, too), and for one of the process that this one was forked off; a system error
 * where the process has no memory left; an internal error.
 */
#ifndef HALCYON_LOGFS_H
#define HALCYON_LOGFS_H

#include <halcyon/errors.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How a container is opened: one or several of these, joined by `|`. READ or WRITE is among them, and those from
 * CREATE on need WRITE. */
typedef enum halcyon_logfs_mode {
    HALCYON_LOGFS_READ = 1,
    HALCYON_LOGFS_WRITE = 2,
    HALCYON_LOGFS_CREATE = 4,    /**< where nothing has the name */
    HALCYON_LOGFS_EXCLUSIVE = 8, /**< with CREATE: fails (EEXIST) where something has the name */
    HALCYON_LOGFS_TRUNCATE = 16  /**< what is in it goes. For one process of several: what others wrote by then goes,
                                  * too */
} halcyon_logfs_mode;

/** How a container is written and read. Set size_bytes, and the members that differ from their defaults; 0 and NULL are
 * the defaults. */
typedef struct halcyon_logfs_options {
    uint64_t size_bytes;    /**< sizeof(halcyon_logfs_options): a program that was built with an earlier release knows
                             * fewer members; the others have their defaults */
    int32_t has_rank;       /**< 1: `rank` counts */
    int32_t rank;           /**< of this process among those that write the file, from 0 on: which of two writes of one
                             * time counts, and whose part `halcyon log map` calls a piece */
    uint64_t group;         /**< a number of those that raise their epochs together (halcyon_logfs_raise_epoch), the
                             * same in each of them; 0: alone */
    int64_t clock_bound_ns; /**< by how much the clock of this node may be wrong: two writes of two nodes that are
                             * closer than that are a conflict, which `halcyon log check` tells. 0: what the kernel
                             * believes */
    int32_t data_checks;    /**< 1: keeps sums over what is written, so that damage to it is found */
    int32_t verify;         /**< 1: compares what is read with such sums, where there are any */
    uint32_t permissions;   /**< of a file that is created, less the umask; 0: 0666 */
    int32_t node_log;       /**< 1: the processes of a node that want it write their data into one log. Not with
                             * data_checks, nor with `stage` */
    const char* stage;      /**< an absolute directory on a disk of the node, where data lie at first. A sync brings
                             * what this handle wrote into the container. What was not synced stays on that disk when
                             * the handle is closed, until `halcyon log drain` runs on the node. NULL: none */
    const char* backends;   /**< absolute directories, joined by colons, over which the logs are spread. NULL: they
                             * are in the container */
} halcyon_logfs_options;

/** What is known of a file. */
typedef struct halcyon_logfs_status_t {
    uint64_t size_bytes;  /**< sizeof(halcyon_logfs_status_t), set by the caller: a later release may know more members,
                           * and fills in no more than there are here */
    int64_t bytes;        /**< of the file */
    int64_t modified_ns;  /**< when it was written last, or the time that a program gave it after that */
    uint64_t device;      /**< of the container's directory; `device` and `inode` together name the container, however
                           * it is called */
    uint64_t inode;       /**< likewise */
    uint32_t permissions; /**< up to 07777 */
    uint32_t user;        /**< who owns it */
    uint32_t group;       /**< likewise */
    int32_t is_plfs;      /**< 1: PLFS wrote it, and it can only be read */
} halcyon_logfs_status_t;

/** How a plain file is made of a container; joined by `|`. */
typedef enum halcyon_logfs_flattening {
    HALCYON_LOGFS_IGNORE_WRITERS = 1, /**< takes the container's place also where a process may still have it open: what
                                       * that writes later is lost */
    HALCYON_LOGFS_NO_VERIFY = 2       /**< takes data that do not fit the sums over them */
} halcyon_logfs_flattening;

/** What halcyon_logfs_flatten has made. */
typedef struct halcyon_logfs_flattened_t {
    uint64_t size_bytes;    /**< sizeof(halcyon_logfs_flattened_t), set by the caller, as in halcyon_logfs_status_t */
    int64_t bytes;          /**< of the file */
    int64_t written_bytes;  /**< of these, without holes */
    int64_t conflict_bytes; /**< that two wrote at times that do not say which was last: the file may have the others'
                             * bytes */
} halcyon_logfs_flattened_t;

/** A container that this process has open. */
typedef struct halcyon_logfs_file* halcyon_logfs_handle;

/** Opens a container. `mode`: halcyon_logfs_mode. `options` NULL: as usual. *h is NULL after any error. Nothing is
 * written into a container before the first write. Blocks: while its indexes are read, about 80 ns for each random
 * extent.
 * @retval HALCYON_ERROR_CONFIG the container is damaged, or of another format version
 * @retval HALCYON_ERROR_USAGE the mode or an option makes no sense; `path` is a plain file (ENOTDIR), a directory that
 * is no container (EISDIR), or one of PLFS that is to be written (EROFS)
 * @retval HALCYON_ERROR_SYSTEM the system refused: ENOENT, EEXIST, EACCES, ENOSPC and so on */
HALCYON_API int halcyon_logfs_open(const char* path, unsigned mode, const halcyon_logfs_options* options,
                                   halcyon_logfs_handle* h);

/** Fills `buffer` with `bytes` bytes of the file from `offset` on; holes read as zeros. *done, where it is not NULL:
 * how many there were; fewer than asked for at the end of the file, and behind a failure. Blocks: while the data are
 * read.
 * @retval HALCYON_ERROR_CONFIG what is read is damaged
 * @retval HALCYON_ERROR_USAGE the handle was opened for writing only (EBADF); `offset` is below 0
 * @retval HALCYON_ERROR_SYSTEM the system refused; ENODATA: the bytes are still on the disk of another node */
HALCYON_API int halcyon_logfs_pread(halcyon_logfs_handle h, void* buffer, uint64_t bytes, int64_t offset,
                                    uint64_t* done);

/** Writes `bytes` bytes at `offset`, which may lie behind the end: all of them, unless it fails. *done, where it is not
 * NULL: how many are in the file. After a failure for lack of room (ENOSPC, EDQUOT) a later call may succeed. Blocks:
 * while the data are written; waits for no other writer.
 * @retval HALCYON_ERROR_CONFIG what this handle wrote before was damaged meanwhile
 * @retval HALCYON_ERROR_USAGE the handle was opened for reading only (EBADF); the range is that of no file (EINVAL,
 * EFBIG)
 * @retval HALCYON_ERROR_SYSTEM the system refused: ENOSPC, EDQUOT, EROFS and so on */
HALCYON_API int halcyon_logfs_pwrite(halcyon_logfs_handle h, const void* data, uint64_t bytes, int64_t offset,
                                     uint64_t* done);

/** Writes `bytes` bytes behind the end of the file, whoever else appends meanwhile. *offset, where it is not NULL:
 * where that was; *done, where it is not NULL: how many are in the file. Processes on several nodes sync each append
 * before another node appends. Blocks: while another process or thread appends, and while the data are written.
 * @retval HALCYON_ERROR_CONFIG what others wrote is damaged
 * @retval HALCYON_ERROR_USAGE the handle was opened for reading only (EBADF); more bytes than a file has (EINVAL,
 * EFBIG)
 * @retval HALCYON_ERROR_SYSTEM the system refused: ENOSPC, EDQUOT, EROFS and so on */
HALCYON_API int halcyon_logfs_append(halcyon_logfs_handle h, const void* data, uint64_t bytes, int64_t* offset,
                                     uint64_t* done);

/** The file has `bytes` bytes now: what all have written behind that before is gone, and what it had not is zeros.
 * Blocks: while that is written down.
 * @retval HALCYON_ERROR_USAGE the handle was opened for reading only (EBADF); `bytes` is below 0 (EINVAL)
 * @retval HALCYON_ERROR_SYSTEM the system refused */
HALCYON_API int halcyon_logfs_truncate(halcyon_logfs_handle h, int64_t bytes);

/** `bytes` bytes from `offset` on read as zeros now; the size stays. Blocks: while that is written down.
 * @retval HALCYON_ERROR_USAGE the handle was opened for reading only (EBADF); the range is that of no file, or empty
 * (EINVAL)
 * @retval HALCYON_ERROR_SYSTEM the system refused */
HALCYON_API int halcyon_logfs_erase(halcyon_logfs_handle h, int64_t offset, int64_t bytes);

/** The size of the file, in *bytes, as this handle sees it. Blocks: while what it wrote itself is looked at.
 * @retval HALCYON_ERROR_CONFIG the container is damaged
 * @retval HALCYON_ERROR_SYSTEM the system refused */
HALCYON_API int halcyon_logfs_size(halcyon_logfs_handle h, int64_t* bytes);

/** Fills *status, of which the caller has set size_bytes, as this handle sees the file. Blocks: as halcyon_logfs_size.
 * @retval HALCYON_ERROR_CONFIG the container is damaged
 * @retval HALCYON_ERROR_USAGE status->size_bytes is not the size of a halcyon_logfs_status_t
 * @retval HALCYON_ERROR_SYSTEM the system refused */
HALCYON_API int halcyon_logfs_status(halcyon_logfs_handle h, halcyon_logfs_status_t* status);

/** Takes what others have published: this handle sees it from now on. Blocks: while what is new is read.
 * @retval HALCYON_ERROR_CONFIG what they wrote is damaged
 * @retval HALCYON_ERROR_SYSTEM the system refused */
HALCYON_API int halcyon_logfs_refresh(halcyon_logfs_handle h);

/** Publishes the data that this handle wrote, and waits for no device. Writes that other processes of this node begin
 * afterwards count as later. For programs that then release a lock or send a message. Blocks: while the index is
 * written.
 * @retval HALCYON_ERROR_SYSTEM the system refused */
HALCYON_API int halcyon_logfs_settle(halcyon_logfs_handle h);

/** All data that processes of this node wrote to the file are on the device when it returns, and those of this handle
 * are published; so is the name of a file that it created. Blocks: until the device has them.
 * @retval HALCYON_ERROR_SYSTEM the device refused something: all later syncs of this handle fail, too */
HALCYON_API int halcyon_logfs_sync(halcyon_logfs_handle h);

/** A time for halcyon_logfs_raise_epoch, in *time_ns: later than all that was written by this handle. Blocks: never.
 * @retval HALCYON_ERROR_USAGE the handle is not open */
HALCYON_API int halcyon_logfs_propose_epoch(halcyon_logfs_handle h, int64_t* time_ns);

/** Orders the group's writes, whatever the clocks of its nodes say: those before this call are older than those after
 * it. All of `group` (halcyon_logfs_options) call it with the same time, the latest that one of them has proposed: an
 * MPI_Allreduce with MPI_MAX. Behind it, sync or close publish the epoch. Blocks: while that is written down.
 * @retval HALCYON_ERROR_USAGE this is no time for an epoch
 * @retval HALCYON_ERROR_SYSTEM the system refused */
HALCYON_API int halcyon_logfs_raise_epoch(halcyon_logfs_handle h, int64_t time_ns);

/** Closes the file, and publishes what was written; does not sync. *h becomes NULL, also after a system error: the file
 * is closed then, and what could not be written down is lost. Blocks: until the calls with this handle have returned.
 * @retval HALCYON_ERROR_USAGE *h is NULL or not open, or belongs to the process that this one was forked off (then it
 * stays)
 * @retval HALCYON_ERROR_SYSTEM the system refused */
HALCYON_API int halcyon_logfs_close(halcyon_logfs_handle* h);

/** Whether `path` is a container, one of PLFS included, in *is: 1, or 0, also where nobody can tell. Blocks: while the
 * file system answers.
 * @retval HALCYON_ERROR_USAGE a pointer is null */
HALCYON_API int halcyon_logfs_is_container(const char* path, int* is);

/** As halcyon_logfs_status, of a path, with all that is published. Blocks: as halcyon_logfs_open.
 * @retval HALCYON_ERROR_CONFIG the container is damaged, or of another format version
 * @retval HALCYON_ERROR_USAGE `path` is no container; status->size_bytes is not the size of a halcyon_logfs_status_t
 * @retval HALCYON_ERROR_SYSTEM the system refused */
HALCYON_API int halcyon_logfs_status_of(const char* path, halcyon_logfs_status_t* status);

/** Makes a plain file of a container, sparse where that has holes, with its permissions; the file has its name only
 * when all of it is on the device. What has the name `target` is replaced. `target` NULL, or the container's own path:
 * the file takes the container's place. `how`: halcyon_logfs_flattening, or 0. *made, where it is not NULL and the
 * caller has set size_bytes, is filled. Blocks: until it is done, or has failed; then all is as before.
 * @retval HALCYON_ERROR_CONFIG the container is damaged
 * @retval HALCYON_ERROR_USAGE `path` is no container; no such `how`; made->size_bytes is not the size of a
 * halcyon_logfs_flattened_t
 * @retval HALCYON_ERROR_SYSTEM the system refused: ENOSPC, EROFS and so on
 * @retval HALCYON_ERROR_UNAVAILABLE a process (this one, too) goes on writing, has open what is to be replaced, or
 * flattens it at the same time */
HALCYON_API int halcyon_logfs_flatten(const char* path, const char* target, unsigned how,
                                      halcyon_logfs_flattened_t* made);

/** Removes a container with all that is in it; its name is gone at once. Those that have it open get errors. Blocks:
 * while its files are removed.
 * @retval HALCYON_ERROR_CONFIG the container is damaged
 * @retval HALCYON_ERROR_USAGE `path` is no container, or a link to one
 * @retval HALCYON_ERROR_SYSTEM the system refused */
HALCYON_API int halcyon_logfs_remove(const char* path);

/** Gives a container another name on its file system. Those that have it open go on. A file or a container with the
 * name `to` is replaced: at any moment the name stands for one of both, but for file systems that cannot exchange two
 * names (NFS). Does not sync. Blocks: while the file system works.
 * @retval HALCYON_ERROR_CONFIG a container is damaged
 * @retval HALCYON_ERROR_USAGE `from` is no container, or a link to one
 * @retval HALCYON_ERROR_SYSTEM the system refused: EISDIR where `to` is another directory, EXDEV and so on */
HALCYON_API int halcyon_logfs_rename(const char* from, const char* to);

/** The message of the last failed call of this thread. "" when there is none. Valid until the thread's next call. */
HALCYON_API const char* halcyon_logfs_error_message(void);

/** The errno that says best why the last failed call of this thread failed; 0: none does, or none failed. */
HALCYON_API int32_t halcyon_logfs_error_number(void);

#ifdef __cplusplus
}
#endif

#endif
