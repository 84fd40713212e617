#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/files/short_lock.hpp"
#include "logfs/container/reading/reader.hpp"
#include "logfs/container/space/own_space.hpp"
#include "logfs/container/writing/other_writers.hpp"
#include "logfs/container/writing/writer.hpp"

namespace halcyon::logfs {

/// How a log_file is opened.
struct opening {
    bool may_read = true;
    bool may_write = false;
    bool creates = false;       ///< where nothing has the name
    bool is_exclusive = false;  ///< with `creates`: only there
    bool truncates = false;
    /// Others are told for as long as it is open (directory/open_mark.hpp), and put no plain file in its place.
    bool says_open = false;
    bool looks_for_past_writes = true;  ///< directory/past_writes.hpp; else the caller does
    /// Several of them may use the file, one of which reads or writes at a time. False: its user sees to that.
    bool has_threads = true;
    mode_t mode = 0644;
    uint32_t host_directories = 32;
    std::string_view backends;  ///< container::place_on()
    int64_t least_given_back = own_space::usual_least_bytes;
    writer_options writing;
    reader_options reading;
    /// node_folder_named(): where merged indexes are shared with other processes of the node.
    std::string_view index_folder;
};

/// A container that one process has open, as a file without a position. Reads see at once what was written here, and
/// what other processes published before the last refresh(). What is written here is later than all that was there when
/// the file was opened or refreshed last, whatever the clocks of other hosts say: a program that was started again
/// writes over what the one before it wrote.
///
/// Data that were replaced here go back to the file system by themselves (space/own_space.hpp).
///
/// Droppings that are open for reading are closed when the process has no descriptor left for something else here.
///
/// Threads may share it, once it is open, as opening::has_threads says.
class log_file {
  public:
    explicit log_file(file_calls& calls = kernel_files()) : container_(calls) {}
    log_file(const log_file&) = delete;
    log_file& operator=(const log_file&) = delete;
    ~log_file();

    /// `who` writes, if anything is written. Failures as those of container, reader and writer.
    result<void> open(std::string_view path, const writer_identity& who, const opening& how);

    result<int64_t> read(int64_t offset, std::span<std::byte> out);
    /// reader::copy_out().
    result<int64_t> copy_out(int64_t offset, int64_t bytes, int to, int64_t* to_offset, int64_t least_piece);
    /// Droppings are created by the first write.
    result<int64_t> write(int64_t offset, std::span<const std::byte> bytes);
    result<int64_t> write(int64_t offset, const iovec* parts, int count);
    /// Writes what another file has from `from_offset` or its position on: within the kernel. How many bytes: fewer
    /// than asked for, or none, where only write() can go on.
    result<int64_t> copy_in(int64_t offset, int64_t bytes, int from, int64_t* from_offset);
    struct appended {
        int64_t offset;
        int64_t bytes;
    };
    /// Writes behind the end of the file, whoever else appends meanwhile. Processes on several nodes have to sync()
    /// each append before another node can follow.
    result<appended> append(std::span<const std::byte> bytes);
    result<appended> append(const iovec* parts, int count);
    result<void> truncate(int64_t bytes);
    result<void> reach(int64_t bytes);
    result<void> erase(int64_t offset, int64_t bytes);
    result<int64_t> size();
    /// -1: none.
    result<int64_t> next_data(int64_t offset);
    result<int64_t> next_hole(int64_t offset);

    /// read_status(), as of the last refresh().
    result<void> status(struct stat& out);
    /// set_times(): behind all that was written here, and all that others have published.
    result<void> set_times(const timespec times[2]);
    /// As those of directory/access.hpp.
    result<void> set_mode(mode_t mode);
    result<void> set_owner(uid_t user, gid_t group);

    /// Takes what others have published.
    result<void> refresh();
    /// What is written from now on is that of a member of this group (writer_identity::group), in a dropping of its own
    /// where there is one of another group.
    result<void> join_group(uint64_t group);
    /// As those of the writer, also before anything is written.
    int64_t propose_epoch();
    result<void> raise_epoch(int64_t time_ns);
    /// As raise_epoch(); and what is written here until end_together() is older than what any member of the group
    /// writes behind that, also by another clock.
    result<void> begin_together(int64_t time_ns);
    result<void> end_together();
    result<void> settle();
    /// All that processes of this node wrote is on the device; of a file that was created here, that it is there.
    result<void> sync();
    /// What was written here is on the device; of a file that was created here, that it is there.
    result<void> sync_own();
    result<void> close();
    /// Nobody uses it for a while: what was written is published, and nothing is held that others may wait for. The
    /// next call goes on, once others were told again that it is open. `keeps_writer`: where that may rest
    /// (writer::may_rest()), it goes on as well; else it ends. Failure: it is to be closed.
    result<void> rest(bool keeps_writer);
    /// Around a fork in a process whose other threads use the file: none of them is in the middle of something.
    void hold();
    void let_go();
    /// In a forked child, also of a file that its parent holds: the parent's file is not this process's.
    void abandon();

    /// The host directory of its writer, as it is or would be.
    [[nodiscard]] uint32_t host_directory() const;
    /// Likewise, whether the data go to the node's disk first.
    [[nodiscard]] bool is_staged() const;
    [[nodiscard]] container& of() { return container_; }
    [[nodiscard]] std::optional<reader>& reading() { return reader_; }
    [[nodiscard]] std::optional<writer>& writing() { return writer_; }

  private:
    class guard;

    result<void> open_container(std::string_view path);
    result<void> say_it_is_open();
    result<void> expect_open() const;
    result<void> begin_writing();
    result<void> open_writer(const writer_options& how);
    void forget();
    [[nodiscard]] bool has_no_room_on_node(const failure& why) const;
    result<void> leave_node();
    result<void> end_writer();
    result<void> sync_writer();
    result<void> close_writer();
    void has_written(int64_t offset, int64_t bytes, int64_t end_before);
    result<void> take_own();
    result<void> take_others();
    result<void> take_all();
    result<void> lock_appends();
    template <class Change>
    result<void> change(Change change);
    template <class Call>
    result<void> with_descriptors(Call call);

    container container_;
    short_lock lock_;
    writer_identity who_;
    opening how_;
    short_name node_folder_;
    std::optional<reader> reader_;
    std::optional<writer> writer_;
    own_space space_{container_};
    other_writers others_{container_};
    bool has_new_writes_ = false;
    bool is_unsynced_ = false;  // created here
    bool is_together_ = false;  // with the group
    int64_t epoch_ns_ = 0;      // raised, or proposed before there was a writer
    int append_lock_ = -1;
    int open_mark_ = -1;
};

}  // namespace halcyon::logfs
