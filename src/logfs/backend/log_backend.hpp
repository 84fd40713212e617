#pragma once

#include <atomic>
#include <climits>
#include <string_view>

#include "calls/backends/file_backend.hpp"
#include "calls/record/call_table.hpp"
#include "logfs/backend/log_nodes.hpp"
#include "logfs/backend/stage_agent.hpp"
#include "logfs/backend/whole_path.hpp"

namespace halcyon::logfs {

/// What all log_backends of a process have in common.
struct backend_settings {
    std::string_view host;
    int rank = -1;  ///< in its MPI program; -1: none
    /// Where data go at first, and who brings them; without a stage: nowhere.
    stage_agent::settings staging;
    std::string_view backends;       ///< container::place_on(); stays
    std::string_view index_folder;   ///< opening::index_folder; stays
    int64_t most_mapped_bytes = 0;   ///< of a copy in memory for mmap; 0: a quarter of what is available
    bool has_logs_of_nodes = false;  ///< writer_options::shares_with_node
    bool has_data_checks = false;    ///< writers sum data, and readers compare data with their sums
};
/// Before the first of them starts.
void start_backends(const backend_settings& how);

/// Files below a directory of the kernel's, each of them a container: an application sees them as files, whatever
/// their number of writers. Plain files that are there stay what they are, and so do directories.
///
/// A descriptor of a container is one of its directory; on a file system of several nodes, of an empty file in it, open
/// for writing where the application reads. What reaches it past the wrappers gets an error. The access mode that it
/// was opened with is the number of its signal (F_SETSIG), which goes with the open file to whoever gets the
/// descriptor. Locks of that file (fcntl) are the logical file's.
class log_backend final : public calls::file_backend {
  public:
    constexpr log_backend() = default;

    /// The directory, with its links resolved. 0, or -errno.
    int start(const char* directory);
    [[nodiscard]] std::string_view root() const { return {root_, root_length_}; }

    [[nodiscard]] const char* name() const override { return "log"; }

    int open(const char* path, int flags, unsigned mode, handle& opened) override;
    int adopt(uint64_t, handle&) override { return -EBADF; }
    [[nodiscard]] uint64_t key_of(handle) override { return 0; }
    void close(handle opened) override;
    ssize_t path_of(handle opened, char* out, size_t room) override;
    int open_again(handle opened, int flags, handle& again) override;
    void say_places(handle opened, calls::data_places& out) override;

    ssize_t read(handle opened, const iovec* pieces, int count, int64_t offset) override;
    ssize_t write(handle opened, const iovec* pieces, int count, int64_t offset) override;
    ssize_t append(handle opened, const iovec* pieces, int count, int64_t& offset) override;

    int64_t copy_out(handle opened, int64_t offset, int64_t bytes, int to, int64_t* to_offset) override;
    int64_t copy_in(handle opened, int64_t offset, int64_t bytes, int from, int64_t from_offset) override;

    int stat(handle opened, struct stat& out) override;
    int resize(handle opened, int64_t bytes) override;
    int reserve(handle opened, int mode, int64_t offset, int64_t bytes) override;
    int sync(handle opened, bool data_only) override;
    int64_t next_of(handle opened, int whence, int64_t offset, int64_t size) override;
    int lock(handle opened, int command, struct flock& range) override;
    int lock_whole(handle opened, int fd, int operation) override;
    int64_t map(handle opened, void* at, size_t bytes, int protection, int flags, int64_t offset) override;

    int64_t propose_epoch(handle opened) override;
    int join_group(handle opened, uint64_t group, bool has_same_pages) override;
    int raise_epoch(handle opened, uint64_t group, int64_t time_ns) override;
    [[nodiscard]] uint64_t pages_of(handle opened) override;
    int show_group(handle opened) override;
    int begin_together(handle opened, uint64_t group, int64_t time_ns) override;
    void end_together(handle opened) override;
    int share_at_once(handle opened) override;

    int stat_path(const char* path, bool follow, struct stat& out) override;
    int access(const char* path, int mode, int flags) override;
    int unlink(const char* path) override;
    int rename(const char* from, const char* to, unsigned flags) override;
    int make_directory(const char* path, unsigned mode) override;
    int remove_directory(const char* path) override;
    int link(const char* from, const char* to) override;
    int make_symbolic_link(const char* target, const char* path) override;
    ssize_t read_link(const char* path, char* out, size_t room) override;
    int set_mode(const char* path, unsigned mode) override;
    int set_mode(handle opened, unsigned mode) override;
    int set_owner(const char* path, bool follow, uid_t user, gid_t group) override;
    int set_owner(handle opened, uid_t user, gid_t group) override;
    int set_times(const char* path, bool follow, const timespec times[2]) override;
    int set_times(handle opened, const timespec times[2]) override;
    int stat_system(struct statfs& out) override;

    int next_entry(handle directory, uint64_t& after, entry& out) override;

    [[nodiscard]] bool shares_names() const override { return true; }
    [[nodiscard]] bool answers(const char* path) override;
    int descriptor_of(handle opened, int flags) override;
    int adopt_descriptor(int fd, const char* name, handle& opened, int& access) override;

    /// Read, modify and write of what lies between two pieces would write bytes back that another rank has replaced.
    [[nodiscard]] hint hint_for_mpi() const override { return {"romio_ds_write", "disable"}; }

    void before_fork() override;
    void keep_still() override;
    void go_on() override;
    void after_fork() override;
    void calls_left() override;
    void before_exec() override;
    void before_end() override;

  private:
    template <class Work>
    int with_node(const whole_path& at, Work work);
    static bool stat_quickly(const whole_path& at, struct stat& out);
    int open_there(const whole_path& at, int flags, mode_t mode, handle& opened);
    int open_directory(int fd, int flags, handle& opened);
    int open_container(int fd, bool is_plfs, const whole_path& at, int flags, handle& opened);
    int create(const whole_path& at, int flags, mode_t mode, handle& opened);
    int create_nameless(const whole_path& folder, int flags, mode_t mode, handle& opened);
    int finish(const log_nodes::taken& what, int flags, handle& opened);
    int put_aside(const char* path);
    int replace(const whole_path& from, const whole_path& to, bool removes_container);
    template <class OfDirectory, class OfContainer>
    int change(handle opened, calls::call_id function, OfDirectory of_directory, OfContainer of_container);

    char root_[PATH_MAX] = "";
    size_t root_length_ = 0;
    std::atomic<bool> has_swept_{false};
    std::atomic<uint64_t> missing_{0};  // hash of a path that answers() has found not to be there; 0: none
};

}  // namespace halcyon::logfs
