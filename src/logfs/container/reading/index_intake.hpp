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
#include "logfs/container/reading/live_runs.hpp"
#include "logfs/container/reading/merged_index.hpp"

namespace halcyon::logfs {

/// Damage to an index dropping, or its absence, in the order in which it was found.
struct found_damage {
    uint32_t dropping;
    index_damage what;
};

/// Data that no index names, as a crash of the node leaves them of writers that had synced nothing.
struct lost_data {
    uint64_t droppings = 0;
    int64_t bytes = 0;
};

/// Where a reader's droppings are kept open, under two keys each.
inline uint64_t index_key(uint32_t dropping) {
    return uint64_t{dropping} * 2;
}
inline uint64_t data_key(uint32_t dropping) {
    return uint64_t{dropping} * 2 + 1;
}

/// Hears how much of the indexes is taken, before it is.
class intake_watch {
  public:
    virtual ~intake_watch() = default;
    /// So many bytes. False: they are not taken, and what takes them fails with EAGAIN.
    [[nodiscard]] virtual bool comes(uint64_t bytes) = 0;
};

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
        /// Takes the epochs, too: they say what is no conflict.
        bool wants_epochs = false;
        /// Of this host: what a writer of the same boot has left was left by no crash of the node.
        std::string_view host;
        std::string_view boot_id;
    };

    index_intake(container& from, memory_source& memory, open_files& files, dropping_table& writers,
                 merged_index& index, data_checks& checks);

    void set(const options& how);
    void set_watch(intake_watch& watch) { watch_ = &watch; }
    /// What writers have published since it was called last. Failure: config, damage; system.
    result<void> reload();
    /// The same of one writer, by the name of its index dropping.
    result<void> reload_one(std::string_view path);

    /// An index dropping, as the system names it.
    struct file_identity {
        uint64_t device;
        uint64_t inode;

        friend bool operator==(const file_identity&, const file_identity&) = default;
    };
    /// Whether the writer's index dropping still begins with all that was taken of it: 1; 0: not; -errno. `out`: which
    /// file that is.
    int confirm(uint32_t number, file_identity& out);
    /// Goes on behind what the table and the merged index, which were loaded, say was taken. False: no memory.
    [[nodiscard]] bool go_on(int64_t latest_ns);
    /// Nothing was taken: the table and the merged index are empty again.
    void start_over();

    [[nodiscard]] const live_runs& live() const { return live_; }
    /// Of all that was taken, when the last of it was written.
    [[nodiscard]] int64_t latest_ns() const { return latest_ns_; }
    [[nodiscard]] const page_array<found_damage>& damages() const { return damages_; }
    /// When reload() was called last.
    [[nodiscard]] const lost_data& lost() const { return lost_; }
    /// By a process of the host and boot that the options name.
    [[nodiscard]] bool is_of_this_boot(const dropping& what) const {
        return has_own_clock_ && what.has_header && what.clock == own_clock_;
    }

  private:
    class visitor;

    /// A directory, as it was when it was listed last.
    struct listing {
        timespec changed{};
        int64_t first_seen_ns = 0;  ///< as it is; CLOCK_MONOTONIC
        bool is_settled = false;
    };
    struct host_directory {
        uint32_t number;
        listing last;
    };

    result<void> list_container();
    result<void> list_host_directory(uint32_t number);
    int status_of_directory(const char* name, struct stat& out);
    static bool must_list(const struct stat& now, listing& last);
    void advise_next(size_t place);
    result<void> take_new(uint32_t number, bool refreshes);
    result<void> finish();
    void forget_lonely_data(std::string_view directory);
    int note_data(std::string_view path);
    result<void> check_lonely_data();
    result<void> check_lonely(const short_name& name, bool& is_lonely);
    [[nodiscard]] bool note_damage(uint32_t dropping, const index_damage& what, bool may_be_known);
    [[nodiscard]] failure damage_failure(uint32_t dropping, const index_damage& what) const;
    [[nodiscard]] failure failed(std::string_view name, std::string_view what, int why) const;

    container& container_;
    memory_source& memory_;
    open_files& files_;
    dropping_table& writers_;
    merged_index& index_;
    data_checks& checks_;
    index_scan scan_;
    listing container_listing_;
    page_array<host_directory> directories_;
    page_array<short_name> lonely_data_;  // without an index dropping when they were listed
    live_runs live_;
    page_array<uint32_t> open_;  // that may still grow
    page_array<found_damage> damages_;
    lost_data lost_;
    intake_watch* watch_ = nullptr;
    uint64_t taken_bytes_ = 0;  // of the dropping that was taken last
    size_t advised_ = 0;        // so many of `open_`, in this reload
    int64_t latest_ns_ = 0;
    bool salvages_ = false;
    bool wants_checks_ = false;
    bool wants_epochs_ = false;
    bool has_own_clock_ = false;
    uint32_t own_clock_ = 0;
};

}  // namespace halcyon::logfs
