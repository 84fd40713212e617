#include "calls/state/descriptors.hpp"

#include <sys/resource.h>

#include <limits>

#include "calls/state/direct_call.hpp"
#include "calls/state/known_files.hpp"
#include "calls/state/process_state.hpp"
#include "calls/state/unseen.hpp"

namespace halcyon::calls::descriptors {

constinit std::atomic<table*> known{nullptr};

namespace {

constinit std::atomic<uint32_t> lock{0};

// Which file a descriptor of ours stands for, to know it again.
struct own_descriptor {
    std::atomic<int> number;  // + 1; 0: none
    uint64_t device;
    uint64_t inode;
};
constinit own_descriptor own_descriptors[own_capacity] = {};

// Descriptors near the limit are those that applications get last; a limit of a million is not taken as an invitation.
int high_number() {
    struct {
        uint64_t now, most;
    } limit{1024, 1024};
    direct::call(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, direct::address(&limit));
    constexpr uint64_t highest = 65536;
    const uint64_t end = limit.now < highest ? limit.now : highest;
    return static_cast<int>(end > 64 ? end - 16 : end / 2);
}

bool identify(int fd, uint64_t& device, uint64_t& inode) {
    struct stat found {};
    if (direct::call(SYS_fstat, fd, direct::address(&found)) != 0) return false;
    device = found.st_dev;
    inode = found.st_ino;
    return true;
}

// Held only by short code that calls nothing. A signal handler that interrupts it must not wait for it; nor must anyone
// wait for long: the thread that holds it may have been stopped for good.
class locked {
  public:
    locked() : thread_(this_thread()) {
        constexpr int patience = 100'000;
        const bool interrupts = (thread_.inside & ~vforked) > 0;  // perhaps itself
        ++thread_.inside;
        before_ = thread_.held;
        thread_.held = &lock;  // first: a handler may jump away as soon as it is ours
        uint32_t nobody = 0;
        for (int tries = 0; !lock.compare_exchange_strong(nobody, lock_name(thread_), std::memory_order_acquire);
             ++tries) {
            if (interrupts || tries == patience) {
                thread_.held = before_;
                return;
            }
            nobody = 0;
            direct::yield();
        }
        held_ = true;
    }
    ~locked() {
        if (held_) {
            lock.store(0, std::memory_order_release);
            thread_.held = before_;
        }
        --thread_.inside;
    }
    locked(const locked&) = delete;
    locked& operator=(const locked&) = delete;
    explicit operator bool() const { return held_; }

  private:
    thread_state& thread_;
    std::atomic<uint32_t>* before_ = nullptr;
    bool held_ = false;
};

table* descriptors_of_process() {
    table* found = known.load(std::memory_order_acquire);
    if (found != nullptr) [[likely]]
        return found;
    auto* fresh = static_cast<table*>(direct::map_memory(sizeof(table)));
    if (fresh == nullptr) return nullptr;
    if (known.compare_exchange_strong(found, fresh)) return fresh;
    direct::call(SYS_munmap, direct::address(fresh), sizeof(table));
    return found;
}

void release(table& all, uint32_t index) {
    if (index == 0 || all.files[index].references.fetch_sub(1) != 1) return;
    all.free[all.free_count++] = index;
}

void set(table& all, int fd, uint32_t index) {
    release(all, all.of_descriptor[fd].exchange(index));
}

uint32_t fresh_index(table& all) {
    if (all.free_count > 0) return all.free[--all.free_count];
    return all.used < capacity ? ++all.used : 0;
}

void name_again(int fd, open_file& file, uint32_t generation) {
    file.file.store(known_files::of_descriptor(fd), std::memory_order_relaxed);
    file.unseen_moves.store(UINT32_MAX, std::memory_order_relaxed);  // its position is shared with the parent
    file.generation.store(generation, std::memory_order_relaxed);
}

// A file of another process's naming (before fork) is named again.
uint32_t current_name(int fd, open_file& file) {
    const uint32_t generation = this_process().generation;
    if (file.generation.load(std::memory_order_relaxed) != generation) [[unlikely]]
        name_again(fd, file, generation);
    return file.file.load(std::memory_order_relaxed);
}

open_file* remember(int fd, int flags, uint32_t file, int64_t position, uint32_t unseen_moves) {
    table* all = descriptors_of_process();
    if (all == nullptr || fd < 0 || fd >= capacity) return nullptr;
    const locked held;
    if (!held) {
        all->of_descriptor[fd].store(0);  // asked again at its next call
        return nullptr;
    }
    const uint32_t index = fresh_index(*all);
    if (index == 0) return nullptr;
    open_file& opened = all->files[index];
    opened.references.store(1, std::memory_order_relaxed);
    opened.file.store(file, std::memory_order_relaxed);
    opened.generation.store(this_process().generation, std::memory_order_relaxed);
    opened.unseen_moves.store(unseen_moves, std::memory_order_relaxed);
    opened.seekable.store(position >= 0, std::memory_order_relaxed);
    opened.position.store(position, std::memory_order_relaxed);
    opened.moved_by.store(static_cast<uint8_t>(movers::own), std::memory_order_relaxed);
    opened.agreed.store(0, std::memory_order_relaxed);
    opened.believed.store(0, std::memory_order_relaxed);
    opened.appends.store((flags & O_APPEND) != 0, std::memory_order_relaxed);
    set(*all, fd, index);
    return file == known_files::ignored ? nullptr : &opened;
}

constexpr uint8_t most_believed = 63;

/// Whether the position is what we think, or is believed to be.
bool is_known(open_file& file) {
    if (file.unseen_moves.load(std::memory_order_relaxed) !=
        this_process().unseen_moves.load(std::memory_order_relaxed)) [[unlikely]]
        return false;
    const auto moved_by = static_cast<movers>(file.moved_by.load(std::memory_order_relaxed));
    if (moved_by == movers::own) [[likely]]
        return true;
    if (moved_by == movers::others) return false;
    const uint8_t believed = file.believed.load(std::memory_order_relaxed);
    if (believed >= file.agreed.load(std::memory_order_relaxed)) return false;
    file.believed.store(static_cast<uint8_t>(believed + 1), std::memory_order_relaxed);
    return true;
}

open_file* ask_kernel(int fd) {
    const int flags = direct::flags_of(fd);
    if (flags < 0) return nullptr;
    const uint32_t file = known_files::of_descriptor(fd);
    if (file == known_files::unknown) return nullptr;
    return remember(fd, flags, file, direct::lseek(fd, 0, SEEK_CUR), UINT32_MAX);
}

}  // namespace

open_file* find_out(int fd) {
    table* all = known.load(std::memory_order_acquire);
    const uint32_t index = all == nullptr ? 0 : all->of_descriptor[fd].load(std::memory_order_acquire);
    if (index == 0) return ask_kernel(fd);
    open_file& file = all->files[index];
    return current_name(fd, file) == known_files::ignored ? nullptr : &file;
}

uint32_t file_of(int fd) {
    const table* all = known.load(std::memory_order_acquire);
    if (all == nullptr || fd < 0 || fd >= capacity) return known_files::unknown;
    const uint32_t index = all->of_descriptor[fd].load(std::memory_order_acquire);
    if (index == 0) return known_files::unknown;
    const open_file& file = all->files[index];
    const bool ours = file.generation.load(std::memory_order_relaxed) == this_process().generation;
    return ours ? file.file.load(std::memory_order_relaxed) : known_files::unknown;
}

open_file* opened(int fd, int flags, int directory, const char* path) {
    if (fd < 0) return nullptr;
    const uint32_t file = known_files::of_descriptor(fd, directory, path);
    if (file == known_files::unknown) return nullptr;
    // What is fresh and can seek begins at 0.
    struct stat kind {};
    const bool seekable = file != known_files::ignored && direct::call(SYS_fstat, fd, direct::address(&kind)) == 0 &&
                          (S_ISREG(kind.st_mode) || S_ISBLK(kind.st_mode) || S_ISDIR(kind.st_mode));
    const int64_t position = seekable ? 0 : none;
    return remember(fd, flags, file, position, this_process().unseen_moves.load(std::memory_order_relaxed));
}

void duplicated(int from, int to) {
    table* all = known.load(std::memory_order_acquire);
    if (all == nullptr || from < 0 || from >= capacity || to < 0 || to >= capacity || from == to) return;
    const locked held;
    if (!held) {
        all->of_descriptor[to].store(0);
        return;
    }
    const uint32_t index = all->of_descriptor[from].load(std::memory_order_relaxed);
    if (index != 0) all->files[index].references.fetch_add(1);
    set(*all, to, index);
}

void closing(int fd) {
    table* all = known.load(std::memory_order_acquire);
    if (all == nullptr || fd < 0 || fd >= capacity) return;
    if (all->of_descriptor[fd].load(std::memory_order_relaxed) == 0) return;
    const locked held;
    if (held)
        set(*all, fd, 0);
    else
        all->of_descriptor[fd].store(0);  // loses its description until the process ends; never a wrong file
}

void closing_range(unsigned first, unsigned last) {
    if (last >= capacity) last = capacity - 1;
    table* all = known.load(std::memory_order_acquire);
    for (unsigned fd = first; all != nullptr && fd <= last; ++fd) closing(static_cast<int>(fd));
}

int open_out_of_the_way(const char* path, int flags) {
    const int fd = direct::open(path, flags | O_CLOEXEC, 0600);
    if (fd < 0) return fd;
    const int high = direct::duplicate_high(fd, high_number());
    if (high < 0) return fd;  // no room up there: it stays where it is
    direct::close(fd);
    return high;
}

void own(int fd) {
    uint64_t device = 0;
    uint64_t inode = 0;
    if (!identify(fd, device, inode)) return;
    for (auto& slot : own_descriptors) {
        int expected = 0;
        if (!slot.number.compare_exchange_strong(expected, -1)) continue;
        slot.device = device;
        slot.inode = inode;
        slot.number.store(fd + 1);
        return;
    }
}

void disown(int fd) {
    if (fd < 0 || fd == std::numeric_limits<int>::max()) return;
    for (auto& slot : own_descriptors) {
        int expected = fd + 1;
        if (slot.number.compare_exchange_strong(expected, 0)) return;
    }
}

bool is_own(int fd) {
    if (fd < 0 || fd == std::numeric_limits<int>::max()) return false;
    for (const auto& slot : own_descriptors) {
        if (slot.number.load(std::memory_order_acquire) != fd + 1) continue;
        uint64_t device = 0;
        uint64_t inode = 0;
        return identify(fd, device, inode) && device == slot.device && inode == slot.inode;
    }
    return false;
}

void close_own(int fd) {
    if (is_own(fd)) direct::close(fd);
    disown(fd);
}

std::array<int, own_capacity> own_numbers() {
    std::array<int, own_capacity> numbers{};
    for (int i = 0; i < own_capacity; ++i) {
        const int number = own_descriptors[i].number.load(std::memory_order_relaxed);
        numbers[i] = number > 0 && is_own(number - 1) ? number - 1 : -1;
    }
    return numbers;
}

void after_fork() {
    lock.store(0);
}

int64_t position(int fd, open_file& file, bool writes) {
    if (!file.seekable.load(std::memory_order_relaxed)) return none;
    if (writes && file.appends.load(std::memory_order_relaxed)) return none;
    if (!is_known(file)) [[unlikely]]
        know_position(fd, file);
    return file.position.load(std::memory_order_relaxed);
}

void know_position(int fd, open_file& file) {
    if (!file.seekable.load(std::memory_order_relaxed)) return;
    const uint32_t moves = this_process().unseen_moves.load(std::memory_order_relaxed);
    const bool asked_before = file.unseen_moves.load(std::memory_order_relaxed) == moves;
    const auto moved_by = static_cast<movers>(file.moved_by.load(std::memory_order_relaxed));
    if (asked_before && moved_by == movers::own) return;
    file.unseen_moves.store(moves, std::memory_order_relaxed);
    const uint8_t believed = file.believed.exchange(0, std::memory_order_relaxed);
    const uint8_t agreed = file.agreed.load(std::memory_order_relaxed);
    const int64_t now = direct::lseek(fd, 0, SEEK_CUR);
    const bool as_expected = file.position.exchange(now, std::memory_order_relaxed) == now;
    if (!as_expected && believed > 0) unseen::position_was_moved(believed);
    if (moved_by == movers::others) return;
    const bool seen = asked_before && !as_expected;
    file.moved_by.store(static_cast<uint8_t>(seen ? movers::others : movers::perhaps_others),
                        std::memory_order_relaxed);
    const uint8_t more = agreed >= most_believed ? most_believed : static_cast<uint8_t>(2 * agreed + 1);
    file.agreed.store(asked_before ? more : uint8_t{0}, std::memory_order_relaxed);
}

}  // namespace halcyon::calls::descriptors
