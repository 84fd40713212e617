#pragma once

#include <cstddef>
#include <cstdint>

#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/format/record_coding.hpp"
#include "logfs/container/reading/dropping.hpp"
#include "logfs/container/reading/dropping_table.hpp"

namespace halcyon::logfs {

/// What is wrong with an index dropping.
struct index_damage {
    enum class part : uint8_t {
        none,
        magic,         ///< it is none of ours
        version,       ///< of another format version, in `seen`
        header,        ///< the rest of its header
        state,         ///< a slot of its state
        commit,        ///< a slot of its commit
        block,         ///< a block's records
        missing_block  ///< the file ends before it
    };
    part what = part::none;
    bool is_torn = false;  ///< behind the last commit: as a crash of the node leaves it
    int64_t offset = 0;
    uint64_t seen = 0;
    /// Of a block: the part of the data dropping that its lost records may name.
    int64_t data_from = 0;
    int64_t data_to = 0;

    explicit operator bool() const { return what != part::none; }
    [[nodiscard]] const char* description() const;
};

/// Is given what an index dropping holds.
class index_visitor {
  public:
    virtual ~index_visitor() = default;
    /// 0 to go on, -errno to stop.
    virtual int take(const record& what) = 0;
    /// Whether to go on behind the damage, with the next block.
    virtual bool found(const index_damage& what) = 0;
};

/// Reads what was added to index droppings since they were looked at last.
class index_scan {
  public:
    index_scan(file_calls& calls, memory_source& memory) : calls_(calls), buffer_(memory) {}

    /// Takes nothing behind the last commit.
    void stop_at_commit() { stops_at_commit_ = true; }

    /// Goes on with `of`; `table` is told of its clock. -errno. What was damaged and not passed over is in `damage`.
    int go_on(int fd, dropping& of, dropping_table& table, index_visitor& visitor);

    [[nodiscard]] const index_damage& damage() const { return damage_; }

  private:
    int read_head(int fd, dropping& of);
    int read_header(size_t at, dropping& of, dropping_table& table);
    bool read_slots(index_visitor& visitor);
    int take_all_there_is(int fd);
    int read_records(int fd, dropping& of, index_visitor& visitor);
    int read_block(const std::byte* block, size_t present, const std::byte* next, dropping& of, index_visitor& visitor);
    int take_records(const std::byte* block, uint32_t limit, bool each_checked, dropping& of, index_visitor& visitor);
    int64_t read_all(int fd, std::byte* into, size_t bytes, int64_t offset);
    bool report(index_damage what, index_visitor& visitor);

    file_calls& calls_;
    page_array<std::byte> buffer_;
    alignas(8) std::byte head_[block_bytes] = {};
    state_slot state_{};
    commit_slot commit_{};
    uint64_t salt_ = 0;
    index_damage damage_;
    bool stops_at_commit_ = false;
};

}  // namespace halcyon::logfs
