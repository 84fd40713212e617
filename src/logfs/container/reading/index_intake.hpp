#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/open_files.hpp"
#include "logfs/container/files/page_array.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/reading/data_checks.hpp"
#include "logfs/container/reading/dropping_table.hpp"
#include "logfs/container/reading/index_scan.hpp"
#include "logfs/container/reading/merged_index.hpp"

namespace halcyon::logfs {

/// Damage to an index dropping, or its absence, in the order in which it was found.
struct found_damage {
    uint32_t dropping;
    index_damage what;
};

/// Where a reader's droppings are kept open, under two keys each.
inline uint64_t index_key(uint32_t dropping) {
    return uint64_t{dropping} * 2;
}
inline uint64_t data_key(uint32_t dropping) {
    return uint64_t{dropping} * 2 + 1;
}

/// Finds the droppings of a container and takes what is new in their indexes.
class index_intake {
  public:
    struct options {
        /// Goes on behind damage that would be a failure.
        bool salvages = false;
        /// Takes nothing behind the last sync of each writer.
        bool stops_at_commit = false;
        /// Takes the sums over data, too.
        bool wants_checks = false;
        /// Of this host: what a writer of the same boot has left was left by no crash of the node.
        std::string_view host;
        std::string_view boot_id;
    };

    index_intake(container& from, memory_source& memory, open_files& files, dropping_table& writers,
                 merged_index& index, data_checks& checks);

    void set(const options& how);
    /// What writers have published since it was called last. Failure: config, damage; system.
    result<void> reload();
    /// The same of one writer, by the name of its index dropping.
    result<void> reload_one(std::string_view path);

    /// Droppings with runs that may go on.
    [[nodiscard]] const page_array<uint32_t>& live() const { return live_; }
    /// Of all that was taken, when the last of it was written.
    [[nodiscard]] int64_t latest_ns() const { return latest_ns_; }
    [[nodiscard]] const page_array<found_damage>& damages() const { return damages_; }

  private:
    class visitor;

    /// A host directory, as it was when it was listed last.
    struct listed {
        uint32_t number;
        timespec changed;
        bool is_settled;
    };

    result<void> list_container();
    result<void> list_host_directory(listed& which);
    result<void> take_new(uint32_t number);
    [[nodiscard]] bool note_live(uint32_t number);
    result<void> find_lonely_data();
    int note_data(std::string_view path);
    static bool is_settled(const struct stat& of);
    [[nodiscard]] bool note_damage(uint32_t dropping, const index_damage& what);
    [[nodiscard]] failure damage_failure(uint32_t dropping, const index_damage& what) const;
    [[nodiscard]] failure failed(std::string_view name, std::string_view what, int why) const;

    container& container_;
    memory_source& memory_;
    open_files& files_;
    dropping_table& writers_;
    merged_index& index_;
    data_checks& checks_;
    index_scan scan_;
    page_array<listed> directories_;
    page_array<short_name> lonely_data_;  // without an index dropping when they were listed
    size_t known_lonely_ = 0;             // of an earlier listing
    page_array<uint32_t> live_;
    page_array<uint32_t> open_;  // that may still grow
    page_array<found_damage> damages_;
    int64_t latest_ns_ = 0;
    timespec container_changed_{};
    bool container_is_settled_ = false;
    bool salvages_ = false;
    bool wants_checks_ = false;
    bool has_own_clock_ = false;
    uint32_t own_clock_ = 0;
};

}  // namespace halcyon::logfs
