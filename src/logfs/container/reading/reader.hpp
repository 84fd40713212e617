#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/open_files.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/reading/conflicts.hpp"
#include "logfs/container/reading/data_checks.hpp"
#include "logfs/container/reading/data_files.hpp"
#include "logfs/container/reading/data_reader.hpp"
#include "logfs/container/reading/dropping_table.hpp"
#include "logfs/container/reading/held_view.hpp"
#include "logfs/container/reading/index_intake.hpp"
#include "logfs/container/reading/kept_bytes.hpp"
#include "logfs/container/reading/merged_index.hpp"
#include "logfs/container/reading/overlay.hpp"
#include "logfs/container/reading/plfs_intake.hpp"
#include "logfs/container/reading/shared_index.hpp"

namespace halcyon::logfs {

struct reader_options {
    /// That are open at a time.
    uint32_t most_descriptors = 256;
    /// For the index and what reading needs beside it; reaching it is a failure (system, ENOMEM).
    uint64_t most_memory_bytes = UINT64_MAX;
    /// Checks data against the sums that their writers left (writer_options::has_data_checks).
    bool verifies_data = false;
    /// Takes what is sound of damaged indexes: for tools, which say what is not.
    bool salvages = false;
    /// Shows what each writer had synced last, and nothing behind that.
    bool stops_at_commit = false;
    /// Finds conflicts. Takes longer, and more memory.
    bool finds_conflicts = false;
    /// Of this host. With them, what a writer of the same boot left damaged is always a failure; without, records
    /// behind its last sync may be missing, as after a crash of its node.
    std::string_view host;
    std::string_view boot_id;
    /// Begins with what another process of this node has merged, and leaves to others what it has merged itself. Not
    /// with an option above that shows less than all, or asks for more than the bytes.
    index_sharing sharing;
};

/// Reads a container, one of ours or of PLFS, as one file. Where writes overlap, the last one counts: by time, in which
/// all of an epoch is later than all of the one before it, then by rank.
///
/// It shows what was published when it was last reloaded. What it shows is not given back (tools/punch.hpp) while it
/// reads; where something was given back before it first read, it reloads by itself. One thread.
class reader {
  public:
    explicit reader(container& from, const reader_options& how = {});
    reader(const reader&) = delete;
    reader& operator=(const reader&) = delete;

    /// Takes what writers have published since; the first time, all. It costs as much as that is. Failure: config,
    /// damage, or another format version; system.
    result<void> reload();
    /// The same of one writer, by writer::name(). Not where PLFS wrote the container.
    result<void> reload_writer(std::string_view name);

    /// From here on nothing is given back of what it shows, until it is reloaded. It may reload for that. read() calls
    /// it by itself.
    result<void> hold();
    /// The same ends, before the reader does: a child that was forked off, and has not forgotten it yet, may have the
    /// lock, too.
    void let_go() { view_.let_go(); }
    /// Likewise, and it keeps its index, and no file and nothing else that it had for reading.
    void rest() {
        let_go();
        files_.close_all();
        release();
        shared_.rest();
    }

    [[nodiscard]] int64_t size();
    /// When the last of all that was taken was written, as its writers' clocks say. Who writes next follows that.
    [[nodiscard]] int64_t latest_ns() const { return std::max(intake_.latest_ns(), plfs_.latest_ns()); }
    /// How many bytes: fewer than asked for at the end of the file. Failure: config, damage; system.
    result<int64_t> read(int64_t offset, std::span<std::byte> out);
    /// Moves bytes from `offset` on to another file, at `to_offset` or at its position, for as long as they are in
    /// pieces that have at least so many bytes: within the kernel. How many: fewer than asked for, or none, where only
    /// read() can go on.
    result<int64_t> copy_out(int64_t offset, int64_t bytes, int to, int64_t* to_offset, int64_t least_piece);

    /// What the file holds from `begin` on, without a gap and up to `end` or less; at least one segment. They stay
    /// until the next call.
    result<std::span<const segment>> segments(int64_t begin, int64_t end);
    /// As lseek() with SEEK_DATA and SEEK_HOLE: none, -1, behind the last data.
    result<int64_t> next_data(int64_t offset);
    result<int64_t> next_hole(int64_t offset);

    /// Ranges in what segments() last returned that two writers wrote at times that do not say which was first.
    [[nodiscard]] std::span<const conflict> conflicts() const { return conflicts_.all(); }

    [[nodiscard]] const dropping_table& writers() const { return writers_; }
    /// By a process of the host and boot that the options name.
    [[nodiscard]] bool is_of_this_boot(uint32_t writer) const { return intake_.is_of_this_boot(writers_[writer]); }
    [[nodiscard]] merged_index& index() { return index_; }
    [[nodiscard]] const shared_index& shared() const { return shared_; }
    [[nodiscard]] data_checks& checks() { return checks_; }
    [[nodiscard]] open_files& files() { return files_; }
    [[nodiscard]] memory_source& memory() { return memory_; }
    [[nodiscard]] container& of() { return container_; }
    /// What was found and passed over.
    [[nodiscard]] std::span<const found_damage> damages() const { return intake_.damages().all(); }
    /// Writers of which records behind the last sync are missing.
    [[nodiscard]] uint32_t torn_writers() const;
    /// What a crash of a node has left that nobody can read, as of the last reload.
    [[nodiscard]] const lost_data& lost() const { return intake_.lost(); }
    /// Of the index droppings of a container that PLFS wrote.
    [[nodiscard]] int64_t plfs_index_bytes() const { return plfs_.index_bytes(); }
    [[nodiscard]] uint64_t read_calls() const { return data_.read_calls(); }
    /// Writers whose data were found in the container when they were read, not on this node's disk.
    [[nodiscard]] const data_files::some_droppings& read_in_container() { return data_.files().in_container(); }

  private:
    result<void> has_taken(result<void> done);
    result<void> start_over();
    [[nodiscard]] bool collect(int64_t begin, int64_t end, size_t most);
    [[nodiscard]] bool put_over_each_other(int64_t begin, int64_t end);
    /// What the segments are for.
    enum class purpose : uint8_t { looking, reading };
    [[nodiscard]] int64_t resolve(int64_t begin, int64_t end, purpose of);
    [[nodiscard]] int64_t resolve_for_reading(int64_t begin, int64_t end);
    segment& go_to(int64_t begin);
    result<void> read_resolved(int64_t begin, std::span<std::byte> out);
    [[nodiscard]] bool keep_from(int64_t begin, size_t asked);
    /// What is shown changes.
    void has_changed() {
        is_measured_ = false;
        resolved_end_ = 0;
        in_row_bytes_ = 0;
        kept_.forget();
    }
    void release();
    void adapt_window(size_t pieces);
    void lengthen_hole(segment& last, int64_t end);
    [[nodiscard]] int64_t next_start(int64_t position);

    container& container_;
    memory_source memory_;
    open_files files_;
    dropping_table writers_;
    merged_index index_;
    data_checks checks_;
    index_intake intake_;
    shared_index shared_;
    plfs_intake plfs_;
    held_view view_;
    overlay overlay_;
    conflict_finder conflict_finder_;
    data_reader data_;
    page_array<segment> segments_;
    page_array<conflict> conflicts_;
    bool finds_conflicts_;
    bool is_measured_ = false;
    int64_t size_ = 0;
    int64_t window_bytes_ = int64_t{1} << 20;
    // What the segments say is kept from one read to the next one behind it.
    int64_t resolved_begin_ = 0;
    int64_t resolved_end_ = 0;  // 0: nothing
    size_t first_segment_ = 0;  // that lies behind `resolved_begin_`, or around it
    int64_t next_read_ = 0;     // where the latest one ended
    int64_t ahead_bytes_ = 0;   // resolved beyond a read that begins where the one before ended
    int64_t in_row_bytes_ = 0;  // that were read so, one behind the other, from what is shown now
    kept_bytes kept_;
};

}  // namespace halcyon::logfs
