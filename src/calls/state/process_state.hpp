#pragma once

#include <atomic>
#include <cstdint>

#include "calls/record/layer.hpp"

namespace halcyon::calls {

/// Calls that are counted (unseen.hpp).
struct unseen_calls {
    std::atomic<bool> told;      ///< of the first of them
    std::atomic<uint64_t> more;  ///< that were not told yet
};

/// Whether a process is a part of MPI that starts the application.
enum class mpi_role : uint8_t { not_asked = 0, launcher, other };

/// What this process knows of itself. Lives in pages that the kernel empties in a child of fork (or of any clone that
/// does not share memory), so that a child finds itself `asleep` and starts a recording of its own: it needs no wrapper
/// around fork, and cannot write into its parent's.
///
/// Children of vfork and posix_spawn share this memory until they exec; `process_id` tells them apart.
struct process_state {
    enum phase : uint32_t { asleep = 0, starting, recording, off };

    std::atomic<uint32_t> phase;
    std::atomic<int> starter;  ///< thread that starts the recording
    int process_id;
    uint32_t generation;            ///< differs between a process and the one it was forked from
    std::atomic<uint32_t> threads;  ///< that made a call so far
    std::atomic<uint32_t>
        unseen_moves;  ///< children that share descriptors with us, and I/O past us: positions may differ
    bool paths;        ///< known_files keeps them; constant once the process records
    bool places;       ///< layers hear where backends keep bytes of files; constant once the process records
    bool contexts;     ///< calls get them (contexts.hpp); constant once the process records
    std::atomic<bool> below;  ///< what backends do is shown (report_below); constant once the process records
    layer_chain layers;
    std::atomic<uint64_t> unrecorded;  ///< calls passed on without a record (may_record)
    std::atomic<uint64_t> left;        ///< calls that never returned, because a jump left them
    std::atomic<uint64_t> rings;       ///< of io_uring, that were noticed
    std::atomic<bool> aborts;          ///< it called MPI_Abort: however that ends the process
    std::atomic<mpi_role> role;        ///< in MPI's launching (is_mpi_launcher)
    unseen_calls direct_calls;         ///< system calls on files that were made with syscall(2)
    unseen_calls submitted;            ///< requests given to the kernel with io_submit
    unseen_calls moved_by_others;      ///< transfers at a position that was believed, and had changed
};

/// Whole pages of the largest size of the architectures we run on: zero in a new program, and again in a forked child.
struct alignas(65536) process_page_type {
    process_state state;
};
extern process_page_type process_page __attribute__((visibility("hidden")));

/// The one of this process.
inline process_state& this_process() {
    return process_page.state;
}

/// Decides, in a process that is asleep, whether and through which layers its calls go: fills `layers`, or leaves it
/// empty. Given by the library that is built from this room (src/programs/io). Called once for each process, in the
/// thread that made its first call; must obey the rules of layer.
void start_layers(layer_chain& layers);

/// False while that cannot be decided yet: the process has not been given its environment. Also of that library.
bool can_start_layers();

/// True when calls of this process pass through layers; starts that on the first call.
bool start_recording();

/// `NAME=value`, ended by null: what a program that this one starts needs in its environment to be recorded, too.
/// Given by the library that is built from this room.
const char* const* environment_of_children();

/// A folder that all processes of the run see, on all nodes; "": there is none. Given by the same library.
const char* shared_folder();

[[gnu::always_inline]] inline bool recording() {
    const uint32_t phase = process_page.state.phase.load(std::memory_order_acquire);
    if (phase == process_state::recording) [[likely]]
        return true;
    return phase == process_state::off ? false : start_recording();
}

/// False in a child of vfork, which must not change what its parent knows.
bool is_own_process();

/// What a thread knows of itself. Initial-exec and without destructor: also valid in signal handlers and while a
/// thread ends.
struct thread_state {
    uint32_t generation;  ///< of the process that `index` and `number` belong to
    uint32_t index;
    uint32_t number;              ///< of its last call
    uint32_t inside;              ///< > 0 while it runs our own code; with the bit `vforked` also after it called vfork
    uint32_t current;             ///< number of the innermost of its calls that has not returned; 0: none
    uint32_t function;            ///< call_id of that one
    std::atomic<uint32_t>* held;  ///< a lock of ours that it holds, or is about to: then it says lock_name()
    int descriptor;               ///< that it looked up last (descriptors::find)
    std::atomic<int64_t*> unfinished;  ///< of what it writes for others to wait for: `abandoned` if a jump leaves it
};

/// In thread_state::inside: the thread called vfork, and may be the child, which lives in its parent's memory.
inline constexpr uint32_t vforked = uint32_t{1} << 31;

/// What a lock says while `thread` holds it; 0: nobody does.
inline uint32_t lock_name(const thread_state& thread) {
    return thread.index + 1;
}

extern constinit thread_local thread_state this_thread_state __attribute__((tls_model("initial-exec")));

/// Fits the thread into the process that it is in now.
void adopt_thread(thread_state& thread);

inline thread_state& this_thread() {
    thread_state& thread = this_thread_state;
    if (thread.generation != process_page.state.generation) [[unlikely]]
        adopt_thread(thread);
    return thread;
}

/// For a thread that is `inside`: whether its calls are recorded all the same, because a vfork before is over. A call
/// that is not is counted: it is of a signal handler that interrupted us, or was made between vfork and exec.
bool may_record(thread_state& thread);

/// A jump (longjmp) leaves all calls of this thread that have not returned, and perhaps our own code with its locks.
void leave_calls();

/// While it lives, calls of this thread pass untouched.
class own_work {
  public:
    own_work() : thread_(this_thread()) { ++thread_.inside; }
    ~own_work() { --thread_.inside; }
    own_work(const own_work&) = delete;
    own_work& operator=(const own_work&) = delete;

  private:
    thread_state& thread_;
};

}  // namespace halcyon::calls
