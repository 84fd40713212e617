#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/directory/staged_data.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/writing/data_checker.hpp"
#include "logfs/container/writing/index_writer.hpp"
#include "logfs/container/writing/writer_identity.hpp"

namespace halcyon::logfs {

struct writer_options {
    bool has_data_checks = false;  ///< sums over the data, too: damage to data droppings is found
    bool may_map_index = true;
    /// A directory on a disk of this node, absolute, that outlives the writer: the data go there at first
    /// (directory/staged_data.hpp). Empty: into the container.
    std::string_view stage;
    /// One data dropping for all writers of this host that want it (node_data.hpp), where the file system can do that.
    /// Not with sums over the data, nor with a stage.
    bool shares_with_node = false;
};

/// Writes into a container: appends the data to its data dropping and says in its index dropping where they belong. It
/// waits for no other writer and sends nothing to any.
///
/// On return of each call a kill of the process loses nothing of it. What a crash of the node leaves is at least what
/// was there at the last sync().
///
/// Where the data go to the node's disk first, sync() brings what was written into the container: only there it is
/// durable. So does close() with all that was synced; the rest is left to an agent. Where nothing can be put there when
/// the writer is opened, the data go into the container.
///
/// Failures are of kind system with the dropping's name, but for calls that make no sense. After a failure for lack of
/// room the container is as before, and a later call may succeed. One thread at a time; none of its calls may be
/// interrupted by a signal's handler that makes another. A forked child has to abandon() it.
class writer {
  public:
    explicit writer(container& in) : container_(in), index_(in.calls()), brought_(in) {}
    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;
    ~writer();

    /// Creates the droppings. Failure: nothing was created.
    result<void> open(const writer_identity& who, const writer_options& how = {});
    [[nodiscard]] bool is_open() const { return data_fd_ >= 0; }

    /// How many bytes were written: fewer than asked for where the room ended, and the failure only where none were.
    result<int64_t> write(int64_t offset, std::span<const std::byte> bytes);
    result<int64_t> write(int64_t offset, const iovec* parts, int count);
    /// Likewise, what another file has from `from_offset` or its position on, by file_calls::copy(). None, where only
    /// write() can go on, or says why not: also where data are summed.
    result<int64_t> copy_in(int64_t offset, int64_t bytes, int from, int64_t* from_offset);

    /// The file ends at `bytes` now: what others wrote behind it before is gone, what is written there later is not.
    result<void> truncate(int64_t bytes);
    /// The file is `bytes` long or longer; nothing of its contents changes.
    result<void> reach(int64_t bytes);
    /// The range reads as zeros now.
    result<void> erase(int64_t offset, int64_t bytes);

    /// What it writes from now on is later than all that was written by this time, whatever the clock of this host
    /// says: what a process has seen is older than what it does next.
    void follow(int64_t time_ns);
    /// A time that is later than all that this writer wrote. The writers of a group raise their epochs to the latest of
    /// all their proposals.
    int64_t propose_epoch();
    /// All that the group wrote before is older than all that it writes from now on, whatever the clocks of its hosts
    /// say. Each of them calls it with the same time. Where nothing was written since the epoch was raised last, the
    /// index does not say it: those who wrote do.
    result<void> raise_epoch(int64_t time_ns);
    /// Failure (usage): this is no time for an epoch.
    static result<void> expect_epoch(const container& in, int64_t time_ns);
    /// What it writes from now on, until start_clock(), has the time of the epoch or of the last write, as closely as
    /// times grow: less than a moment later. So a group writes together, and what one of its members writes who
    /// follows a moment behind the epoch is later, whatever the clocks say.
    void stop_clock() { has_clock_ = false; }
    void start_clock() { has_clock_ = true; }
    static constexpr int64_t moment_ns = 65'536;

    /// What was written is older than all that any other process writes, on a host with the same clock, after this
    /// returned (a lock that is released, for instance). Without it, writes of a pattern are kept in order with those
    /// of other processes to within the times that time_line.hpp gives.
    result<void> settle();

    /// What was written is on the device.
    result<void> sync();
    /// Other nodes see what was written, as far as they see what it says of the data: those are not synced. 0, or
    /// -errno.
    int sync_index() { return index_.sync(); }
    /// Says that it has ended, unless its process goes on with it (writer_rests in format.hpp). Failure: it is as
    /// before.
    result<void> rest();
    /// Whether it may rest: its data are few, so that it matters to nobody that their file stays open, and others wait
    /// for nothing of it that comes at the end.
    [[nodiscard]] bool may_rest() const;
    /// Does not sync. Of a writer that wrote nothing, nothing is left. Failure: it is closed nevertheless.
    result<void> close();
    /// Forgets the files without a word to them: in a forked child.
    void abandon();

    /// Of its index dropping, relative to the container.
    [[nodiscard]] std::string_view name() const { return index_name_.view(); }
    /// The number of the host directory with its droppings.
    [[nodiscard]] uint32_t host_directory() const { return host_directory_; }
    /// Likewise, of one that `who` opens.
    static uint32_t host_directory_for(const container& in, const writer_identity& who, const writer_options& how);
    /// Likewise, of a container with so many; `has_other_backends`: container::has_other_backends().
    static uint32_t host_directory_for(uint32_t host_directories, bool has_other_backends, const writer_identity& who,
                                       const writer_options& how);
    /// The data lie on the node's disk.
    [[nodiscard]] bool is_staged() const { return is_staged_; }
    /// -errno: why they do not, although they should; 0.
    [[nodiscard]] int why_not_staged() const { return why_not_staged_; }
    /// The data lie in a file that writers of the node share.
    [[nodiscard]] bool is_shared() const { return is_shared_; }
    [[nodiscard]] const index_writer& index() const { return index_; }

  private:
    int create_droppings(const writer_identity& who, const writer_options& how);
    int create_dropping_pair(index_header header, std::string_view host, const writer_options& how);
    int create_data(std::string_view host, const writer_options& how);
    int create_staged_data(std::string_view host, std::string_view stage);
    void say_whose_it_is();
    void remove_data();
    int sync_data();
    int64_t next_time();
    int make_data_room(int64_t bytes);
    result<void> make_room(int64_t offset, int64_t bytes);
    result<void> note_write(int64_t offset, int64_t written);
    int64_t write_data(const iovec* parts, int count, int64_t bytes, int& why);
    int note_checks(const iovec* parts, int count, int64_t bytes);
    int flush_check();
    result<void> add(record_kind kind, int64_t start, int64_t length);
    [[nodiscard]] failure index_failed(std::string_view what, int why) const;
    [[nodiscard]] failure data_failed(std::string_view what, int why) const;
    [[nodiscard]] failure nonsense(std::string_view what, int why) const;

    container& container_;
    index_writer index_;
    short_name index_name_;
    short_name data_name_;
    uint32_t host_directory_ = 0;
    int data_fd_ = -1;
    int64_t data_bytes_ = 0;
    int64_t last_ns_ = 0;
    bool has_clock_ = true;
    stream_place epoch_end_{};  // behind the record that raised the epoch last
    bool has_data_checks_ = false;
    bool has_unsynced_data_ = false;
    bool has_unsynced_names_ = true;
    int sync_failed_ = 0;
    bool is_shared_ = false;      // the data dropping, with other writers of the node
    int64_t own_data_bytes_ = 0;  // of it, to where this one may write
    bool is_staged_ = false;
    int why_not_staged_ = 0;
    staged_mark mark_;
    brought_data brought_;
    int64_t brought_bytes_ = 0;  // that are in the container, and on its device
    data_checker checker_;
};

}  // namespace halcyon::logfs
