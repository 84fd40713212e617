#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/open_files.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/format/plfs_format.hpp"
#include "logfs/container/reading/dropping_table.hpp"
#include "logfs/container/reading/hashed_numbers.hpp"
#include "logfs/container/reading/merged_index.hpp"

namespace halcyon::logfs {

/// Finds the droppings of a container that PLFS wrote and takes what is new in their indexes. A dropping of the table
/// is a data dropping here: an index may name several.
class plfs_intake {
  public:
    plfs_intake(container& from, memory_source& memory, open_files& files, dropping_table& writers,
                merged_index& index);

    /// What writers have published since it was called last. Failure: config, damage, or another version; system.
    result<void> reload();

    /// Of all that was taken, when the last of it was written.
    [[nodiscard]] int64_t latest_ns() const { return latest_ns_; }
    /// Of all index droppings.
    [[nodiscard]] int64_t index_bytes() const { return index_bytes_; }

  private:
    struct index_dropping {
        short_name path;
        uint32_t directory = 0;  // bytes of the path, without the slash
        int64_t taken = 0;
        int64_t last_id = -1;  // of the record before, and whose data it named
        uint32_t last_writer = 0;
    };

    result<void> look_at_version();
    result<void> list_directories();
    result<void> list_meta();
    result<void> resolve_directory(const short_name& name, short_name& path);
    result<void> in_other_backend(const short_name& name, std::string_view target, short_name& path) const;
    result<void> set_directory(const short_name& name, std::string_view target, short_name& path) const;
    result<void> list_directory(std::string_view path);
    result<void> take_new(index_dropping& from);
    int take(index_dropping& from, const plfs_record& what);
    uint32_t writer_of(index_dropping& from, int32_t id);
    [[nodiscard]] failure failed(std::string_view name, std::string_view what, int why) const;

    container& container_;
    memory_source& memory_;
    open_files& files_;
    dropping_table& writers_;
    merged_index& index_;
    page_array<index_dropping> indexes_;
    hashed_numbers by_name_;
    page_array<std::byte> buffer_;
    int64_t latest_ns_ = 0;
    int64_t index_bytes_ = 0;
    int64_t last_offset_ = 0;  // that names in meta say
    bool has_open_writers_ = false;
    bool knows_version_ = false;
};

}  // namespace halcyon::logfs
