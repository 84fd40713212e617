#pragma once

#include <cstddef>
#include <cstdint>

#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/format/record_coding.hpp"
#include "logfs/container/reading/dropping.hpp"
#include "logfs/container/reading/dropping_table.hpp"
#include "logfs/container/reading/head_reader.hpp"
#include "logfs/container/reading/index_damage.hpp"

namespace halcyon::logfs {

/// Is given what an index dropping holds.
class index_visitor {
  public:
    virtual ~index_visitor() = default;
    /// So many bytes of records are about to be read. 0 to go on, -errno to stop.
    virtual int comes(uint64_t bytes) {
        static_cast<void>(bytes);
        return 0;
    }
    /// 0 to go on, -errno to stop.
    virtual int take(const record& what) = 0;
    /// Whether to go on behind the damage, with the next block.
    virtual bool found(const index_damage& what) = 0;
};

/// Reads what was added to index droppings since they were looked at last.
class index_scan {
  public:
    index_scan(file_calls& calls, memory_source& memory) : calls_(calls), head_(calls), buffer_(memory) {}

    /// Takes nothing behind the last commit.
    void stop_at_commit() { stops_at_commit_ = true; }

    /// Goes on with `of`; `table` is told of its clock. -errno. What was damaged and not passed over is in `damage`.
    int go_on(int fd, dropping& of, dropping_table& table, index_visitor& visitor);

    /// Whether it is the dropping of which `of` was taken, with all that was taken, and sound: 1; 0: not; -errno. Of
    /// one that has ended, `of` learns what is on the disk now.
    int confirm(int fd, dropping& of);

    [[nodiscard]] const index_damage& damage() const { return damage_; }

  private:
    [[nodiscard]] bool has_last_block(int fd, const dropping& of);
    [[nodiscard]] bool is_unsynced_header(size_t at, const dropping& of) const;
    static bool adopt(const index_header& header, dropping& of, dropping_table& table);
    int take_header(dropping& of, dropping_table& table, index_visitor& visitor);
    int take_slots(int fd, dropping& of, index_visitor& visitor);
    void go_back_to_commit();
    int take_all_there_is(int fd);
    [[nodiscard]] bool has_sound_runs() const;
    void take_state(dropping& of);
    [[nodiscard]] int64_t committed_bytes(const commit_slot& commit, uint64_t salt) const;
    int take_synced_runs(const dropping& of, index_visitor& visitor);
    int read_records(int fd, dropping& of, index_visitor& visitor);
    int read_block(const std::byte* block, size_t present, const std::byte* next, dropping& of, index_visitor& visitor);
    int take_records(const std::byte* block, uint32_t limit, bool each_checked, dropping& of, index_visitor& visitor);
    bool report(const index_damage& what, index_visitor& visitor);

    file_calls& calls_;
    head_reader head_;
    page_array<std::byte> buffer_;
    state_slot state_{};
    commit_slot commit_{};
    uint64_t salt_ = 0;
    index_damage damage_;
    bool stops_at_commit_ = false;
};

}  // namespace halcyon::logfs
