#include "calls/wrappers/mpi/mpi_epochs.hpp"

#include <algorithm>
#include <atomic>

#include "calls/state/direct_call.hpp"
#include "calls/wrappers/handle_table.hpp"
#include "calls/wrappers/mpi/mpi_paths.hpp"

namespace halcyon::calls::mpi {
namespace {

constinit thread_local bool is_in_call __attribute__((tls_model("initial-exec"))) = false;

// Of each file that ranks have open together: the communicator over which they agree, and whose file it is; which file
// that is there (0: this rank has none open), and the group.
using file_table = handle_table<1024>;
constinit file_table agreements{};
constinit file_table members{};

uint64_t key_of_file(handle file) {
    return reinterpret_cast<uintptr_t>(file);
}

/// A number that no other process has.
uint64_t number_of_process() {
    static std::atomic<uint64_t> number{0};
    static std::atomic<uint32_t> owner{0};  // the generation that it belongs to
    const uint32_t here = this_process().generation;
    uint64_t mine = number.load(std::memory_order_relaxed);
    if (mine != 0 && owner.load(std::memory_order_acquire) == here) return mine;
    do direct::call(SYS_getrandom, direct::address(&mine), sizeof mine, 0);
    while (mine == 0);
    number.store(mine, std::memory_order_relaxed);
    owner.store(here, std::memory_order_release);
    return mine;
}

/// Of all ranks; false where the library refuses.
template <size_t count>
bool agree(handle communicator, handle operation, int64_t (&numbers)[count]) {
    int64_t mine[count];
    for (size_t i = 0; i < count; ++i) mine[i] = numbers[i];
    const auto reduce = HALCYON_PMPI(Allreduce, (const void*, void*, int, handle, handle, handle));
    return ask(reduce, mine, numbers, static_cast<int>(count), int64_type(), operation, communicator) == success;
}

void free_communicator(handle communicator) {
    ask(HALCYON_PMPI(Comm_free, (handle*)), &communicator);
}

/// What is known of a file that ranks have open together.
struct open_together {
    handle communicator = nullptr;
    file_backend* backend = nullptr;
    file_backend::handle here = 0;
    uint64_t group = 0;

    bool find(handle file) {
        const uint64_t key = key_of_file(file);
        file_table::words agreement{};
        file_table::words member{};
        if (agreements.empty() || !agreements.find(key, agreement) || !members.find(key, member)) return false;
        communicator = reinterpret_cast<handle>(agreement.first);
        backend = static_cast<file_backend*>(reinterpret_cast<void*>(agreement.second));
        here = member.first;
        group = member.second;
        return true;
    }
    /// The latest of the times that all ranks propose; 0: there is none, or nothing of this rank's to do with it.
    int64_t agree_on_epoch() const {
        const int64_t proposed = here != 0 ? backend->propose_epoch(here) : 0;
        int64_t latest[1] = {proposed};
        return agree(communicator, maximum(), latest) && proposed > 0 ? latest[0] : 0;
    }
};

/// Where ranks cannot agree: each of them writes its own pieces, and none reads others'.
void keep_from_buffering(handle file) {
    handle info = nullptr;
    if (ask(HALCYON_PMPI(Info_create, (handle*)), &info) != success) return;
    ask(HALCYON_PMPI(Info_set, (handle, const char*, const char*)), info, "romio_cb_write", "disable");
    ask(HALCYON_PMPI(File_set_info, (handle, handle)), file, info);
    ask(HALCYON_PMPI(Info_free, (handle*)), &info);
}

}  // namespace

outermost_call::outermost_call() : is_outermost_(!is_in_call) {
    is_in_call = true;
}

outermost_call::~outermost_call() {
    if (is_outermost_) is_in_call = false;
}

opening_together::opening_together(handle communicator, const char* path, int access) : communicator_(communicator) {
    constexpr int write_only = 4;  // MPI_MODE_WRONLY and MPI_MODE_RDWR, the same with Open MPI and MPICH
    constexpr int read_write = 8;
    may_write_ = (access & (write_only | read_write)) != 0;
    if (!may_write_ || !outermost_ || !backends::present() || !handles_are_known()) return;
    // By its name alone: what is there may change until each of the ranks has looked.
    static_cast<void>(at_.find(AT_FDCWD, without_prefix(path)));
    for (const backends::mount_point& mounted : backends::mounted()) {
        if (at_.lies_in(*mounted.of)) backend_ = mounted.of;
    }
    if (backend_ != nullptr) awaited_.emplace(*backend_, at_.path());
}

/// The same on all ranks: the file is the backend's for as long as one of them has it open. Where hints say that few
/// ranks open it, the others look at its name.
bool opening_together::has_opened() {
    if (backend_ == nullptr) return false;
    if (awaited_->opened() != 0) return true;
    struct stat there {};
    return backend_->answers(at_.path()) && backend_->stat_path(at_.path(), true, there) == 0;
}

void opening_together::opened(handle file) {
    if (!has_opened()) return;
    int ranks = 0;
    if (ask(HALCYON_PMPI(Comm_size, (handle, int*)), communicator_, &ranks) != success || ranks < 2) return;
    // Not a duplicate, which would run the application's own functions for its attributes.
    handle ours = nullptr;
    if (ask(HALCYON_PMPI(Comm_split, (handle, int, int, handle*)), communicator_, 0, 0, &ours) != success) return;
    ask(HALCYON_PMPI(Comm_set_errhandler, (handle, handle)), ours, errors_return());
    const uint64_t key = key_of_file(file);
    const file_backend::handle here = awaited_->opened();
    const bool is_noted = agreements.add(key, {reinterpret_cast<uintptr_t>(ours),
                                               reinterpret_cast<uintptr_t>(static_cast<void*>(backend_))}) &&
                          members.add(key, {here, 0});
    const int64_t proposed = here != 0 ? backend_->propose_epoch(here) : 0;
    // Whoever has no room for it, or a backend without epochs, keeps all from it.
    constexpr int64_t no_epochs = 1;
    constexpr int64_t no_room = 2;
    const auto pages = here != 0 ? static_cast<int64_t>(backend_->pages_of(here) >> 1) : INT64_MIN;
    int64_t latest[] = {proposed,
                        !is_noted      ? no_room
                        : proposed < 0 ? no_epochs
                                       : 0,
                        pages, here != 0 ? -pages : INT64_MIN};
    int64_t sum[1] = {static_cast<int64_t>(number_of_process())};
    if (!agree(ours, maximum(), latest) || latest[1] != 0 || !agree(ours, sum_of_all(), sum)) {
        agreements.remove(key);
        members.remove(key);
        if (latest[1] == no_room) keep_from_buffering(file);
        return free_communicator(ours);
    }
    const bool has_same_pages = latest[2] == -latest[3];
    // The same for whatever communicator of these processes.
    const uint64_t group = sum[0] != 0 ? static_cast<uint64_t>(sum[0]) : 1;
    members.add(key, {here, group});
    if (here == 0) return;
    static_cast<void>(backend_->join_group(here, group, has_same_pages));
    static_cast<void>(backend_->raise_epoch(here, group, latest[0]));
}

epoch_before::epoch_before(handle file, call made) {
    open_together of;
    if (!outermost_ || !of.find(file)) return;
    if (made == call::syncs) synced_.emplace();
    if (made == call::closes) {  // before: another thread may get the same handle at once
        freed_ = of.communicator;
        agreements.remove(key_of_file(file));
        members.remove(key_of_file(file));
    }
    if (const int64_t time_ns = of.agree_on_epoch(); time_ns > 0)
        static_cast<void>(of.backend->raise_epoch(of.here, of.group, time_ns));
}

epoch_before::~epoch_before() {
    if (freed_ != nullptr) free_communicator(freed_);
}

writing_together::writing_together(handle file, call made) {
    open_together of;
    if (!outermost_ || !of.find(file)) return;
    if (made == call::returns_at_once) {
        if (of.here != 0) static_cast<void>(of.backend->share_at_once(of.here));
        return;
    }
    if (of.here != 0) static_cast<void>(of.backend->show_group(of.here));
    const int64_t time_ns = of.agree_on_epoch();
    if (time_ns <= 0 || of.backend->begin_together(of.here, of.group, time_ns) != 0) return;
    backend_ = of.backend;
    here_ = of.here;
}

writing_together::~writing_together() {
    if (backend_ != nullptr) backend_->end_together(here_);
}

}  // namespace halcyon::calls::mpi
