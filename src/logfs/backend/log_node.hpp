#pragma once

#include <sys/stat.h>

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "calls/backends/path_room.hpp"
#include "logfs/backend/process_lock.hpp"
#include "logfs/backend/told_places.hpp"
#include "logfs/container/log_file.hpp"

namespace halcyon::logfs {

/// Of a container, or of a file in it, as the kernel says it.
inline constexpr size_t longest_path = PATH_MAX + 64;

/// How containers are opened by this process; set once, when it starts.
struct node_settings {
    writer_identity who;  ///< but for the process
    reader_options reading;
    writer_options writing;
    uint32_t host_directories = 32;
    std::string_view backends;      ///< container::place_on()
    std::string_view index_folder;  ///< opening::index_folder
    int64_t most_mapped_bytes = 0;  ///< map_copy()
};

/// A container that this process has open, whatever the number of its descriptors: one reader and, once something is
/// written, one writer. Reads see at once what any thread of the process wrote.
///
/// What is held all the time is its marker, with a lock of the open file that says so to others who would remove it. It
/// stays in a forked child, which opens everything else anew when it needs it: so does the process itself behind an
/// exec that failed.
class log_node {
  public:
    explicit log_node(const node_settings& how);
    log_node(const log_node&) = delete;
    log_node& operator=(const log_node&) = delete;

    // --- with its lock, or before anybody else knows it ---

    /// The container that the directory `fd` stands for. 0, or -errno.
    int open(int fd, const char* path);
    /// A new one. -EEXIST: something has the name.
    int create(const char* path, mode_t mode);
    /// It can be read and written, and shows what twins of it wrote, and where it `is_behind`, what others have
    /// published. 0, or -errno: then nothing of it can be.
    int ready() {
        if (is_behind) [[unlikely]]
            return make_ready();
        return ready_behind();
    }
    /// Likewise, for who sees nothing of what others wrote: it stays behind.
    int ready_behind() {
        if (file_ == nullptr || has_twin_writes.load(std::memory_order_relaxed)) [[unlikely]]
            return make_ready();
        return 0;
    }
    [[nodiscard]] log_file& file() { return *file_; }
    /// Something was written: where that lies on the node's disk, somebody brings it into the container.
    void attend_stage() {
        if (!how_.writing.stage.empty()) [[unlikely]]
            attend_staged();
    }
    /// Where its bytes go and come from. `syncs_writes`: those of writes go on to the device at once.
    void say_places(bool syncs_writes, calls::data_places& out);
    /// Also where it has to be opened anew.
    [[nodiscard]] bool was_opened() const { return marker_ >= 0; }
    /// It may say something else by now.
    [[nodiscard]] bool has_other_places() const { return file_ != nullptr && places_.may_have_changed(*file_); }
    /// Its marker, whose mode and owner are the file's.
    [[nodiscard]] int marker() const { return marker_; }
    /// The empty file in it whose locks (fcntl) are those of the file; -errno.
    int placeholder();
    /// As stat(2) of the file. 0, or -errno.
    int status(struct stat& out);
    /// The container's path, as it is called now; 0: nobody knows.
    size_t path(char* out, size_t room) const;
    size_t path(calls::path_room& out) const;
    /// It has no name any more.
    [[nodiscard]] bool is_removed() const;
    [[nodiscard]] bool is_plfs() const { return is_plfs_; }
    /// Whether a lock of its directory (flock) holds for all who may have it open: the file system is of one node.
    [[nodiscard]] bool locks_directories() const { return locks_directories_; }
    /// What was written here is older than all that others write after this, and they see it when they look. 0, or
    /// -errno.
    int publish();
    /// The same, and it is on the device; or all that processes of this node wrote.
    enum class whose : bool { own, all };
    int sync(whose written);
    /// What was written here is older than all that others write after this.
    void settle();
    /// What is written from now on is that of a member of this group (writer_identity::group). 0, or -errno.
    /// `has_same_pages`: all members see the file by the pages of this node.
    int join_group(uint64_t group, bool has_same_pages);
    /// log_file::raise_epoch(), where it is in this group. 0, or -errno.
    int raise_epoch(uint64_t group, int64_t time_ns);
    /// As those of calls::file_backend.
    [[nodiscard]] uint64_t pages() const;
    int show_group();
    int begin_together(uint64_t group, int64_t time_ns);
    int share_at_once();
    /// Behind a write: others see it where they are to see all at once. 0, or -errno.
    int share() { return shares_at_once_ ? share_now() : 0; }
    /// Whether who reads next has to look at what others wrote, whatever these have said.
    bool has_to_look() {
        is_behind = is_behind || shares_at_once_;
        return std::exchange(looks_when_reading_, shares_at_once_);
    }
    /// Whether somebody published or synced something since this was asked last; true, too, where nobody can tell.
    bool others_published();
    /// No program wrote to a descriptor past the library, as that looked last. 0, or -errno.
    int expect_no_past_writes() { return has_past_writes_ ? tell_of_past_writes() : 0; }
    /// A descriptor of it is closed: tells people, and who records, where a program wrote to it past the library.
    void look_for_past_writes();
    /// Nobody has it open any more. True: it keeps what it knows of its container, for who opens that again soon, and
    /// where the process has written it before, its log, too (log_file::rest): a file that a program opens for each
    /// line that it appends would have as many logs as lines. To others, it is closed. False: it has to be closed.
    bool rest();
    /// It is open again, with all that it knew, which is as old as that. False: it has to be closed. `directory`: the
    /// container that it was.
    bool wake(int directory);
    /// Another program takes its place, or nobody has it open any more.
    int close_file();
    /// All but the memory. `path`: of a container that has no name any more, which is to be removed if nobody else has
    /// it open; "": it has one.
    void close(calls::path_room& path);
    /// The process ends: its writer has ended, and others are told, but nothing is synced. `path`: likewise; others are
    /// not told any more that this process has it open. What is written behind that (streams) goes on in another log,
    /// where another process keeps the container.
    void end_with_process(calls::path_room& path);
    /// Likewise, for who knows that others have it open.
    void close();
    /// In a forked child.
    void forget();
    /// Of a thread that was in the middle of something with it, and never comes back: that stays as it lies, its memory
    /// and descriptors, too. The next one to use it opens the container anew.
    void break_off();
    /// What is written from now on is later than all that this process wrote, also of patterns, which keep their times
    /// to within a tolerance. For a twin, which cannot ask the other one to end these. 0, or -errno.
    int write_behind_all();

    process_lock lock;
    bool has_record_locks = false;
    bool has_unpublished = false;  ///< something was written
    bool is_behind = false;        ///< whoever uses it next looks at what others have published
    std::atomic<bool> has_twin_writes{false};

    // --- with the lock of log_nodes ---
    log_node* next = nullptr;
    uint64_t device = 0;
    uint64_t inode = 0;
    uint32_t references = 0;
    bool is_known = false;  ///< to others than its first user

  private:
    void attend_staged();
    int share_now();
    int make_ready();
    int open_file(const char* path, bool is_new, mode_t mode);
    int hold_marker(int directory);
    [[nodiscard]] const char* name_of_marker() const;
    int identify(int directory);
    void look_at_system(int directory);
    void tell_others();
    void close_marks();
    void path_if_removed(calls::path_room& path) const;
    int tell_of_past_writes();

    const node_settings& how_;
    uint32_t host_directories_;  // of the container
    bool is_plfs_ = false;
    bool was_written_ = false;  // before it rested
    bool is_between_nodes_ = false;
    bool locks_directories_ = false;
    bool has_past_writes_ = false;
    bool has_told_of_them_ = false;
    int marker_ = -1;
    int placeholder_ = -1;
    int told_by_ = -1;  // the placeholder, opened for nothing but its time: no lock goes when it is closed
    uint64_t group_ = 0;
    bool group_has_same_pages_ = false;
    bool looks_when_reading_ = false;
    bool shares_at_once_ = false;
    told_places places_;
    int64_t told_ns_ = 0;       // when others published last, as that file says
    int64_t seen_ns_ = 0;       // when this was seen first; 0: long ago
    log_file* file_ = nullptr;  // in pages of its own; null: it has to be opened
};

/// -errno of a failure; one that says that a container is damaged is told to people, too.
int error_of(const failure& why);
inline int error_of(const result<void>& done) {
    return done.ok() ? 0 : error_of(done.why());
}

/// The empty file in a container whose locks are those of the file, opened as a descriptor like any other; -errno.
int open_placeholder(int directory, int flags);

/// The container's path, of that file's; any other path stays.
std::string_view without_placeholder(std::string_view name);

}  // namespace halcyon::logfs
