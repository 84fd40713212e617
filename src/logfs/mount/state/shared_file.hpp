#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "logfs/container/log_file.hpp"
#include "logfs/mount/state/acting_as.hpp"
#include "logfs/mount/state/file_key.hpp"
#include "logfs/mount/state/removal.hpp"

namespace halcyon::logfs {

/// A container that programs of one mount have open, once for all of them: each sees at once what the others write, and
/// all of them together have one log. What it does with the container, it does as its owner. Threads may share it.
class shared_file {
  public:
    /// `shown_as`: its path, for messages.
    shared_file(const file_key& key, std::string shown_as) : key_(key), shown_as_(std::move(shown_as)) {}
    shared_file(const shared_file&) = delete;
    shared_file& operator=(const shared_file&) = delete;
    ~shared_file() { static_cast<void>(close()); }

    /// The first thread opens it, by the directory that this descriptor stands for; others wait. A container of PLFS is
    /// opened for reading.
    result<void> open_once(int directory, const writer_identity& who, const opening& how);
    /// A new one, by the name in a folder.
    result<void> create(int folder, const char* name, const writer_identity& who, const opening& how);

    [[nodiscard]] const file_key& key() const { return key_; }
    /// From here on this thread acts as whom the container belongs to.
    [[nodiscard]] acting_as owner() const { return acting_as(owner_.load()); }
    [[nodiscard]] bool is_plfs() { return log_.of().is_plfs(); }
    [[nodiscard]] bool has_written() const { return has_written_.load(std::memory_order_relaxed); }

    result<int64_t> read(int64_t offset, std::span<std::byte> out);
    result<int64_t> write(int64_t offset, std::span<const std::byte> bytes);
    result<log_file::appended> append(std::span<const std::byte> bytes);
    result<void> resize(int64_t bytes);
    result<void> reach(int64_t bytes);
    /// Zeros; what lies behind the end stays behind it.
    result<void> erase(int64_t offset, int64_t bytes);
    /// -1: there is none.
    result<int64_t> next_data(int64_t offset);
    result<int64_t> next_hole(int64_t offset);
    result<void> sync();
    /// What was written here is older than what any other node writes from now on.
    result<void> settle();
    result<void> close();

    /// Takes what others have published.
    result<void> refresh();
    /// Unless it has done so since then (CLOCK_MONOTONIC).
    result<void> refresh_as_of(int64_t time_ns);
    /// Whether the kernel's pages of the file are still what a program may see that opens it now.
    bool may_keep_pages();

    /// The logical file's. What others have published is looked at where the last look is `age_ns` old.
    result<void> status(int64_t age_ns, struct stat& out);
    /// As utimensat(2).
    result<void> set_times(const timespec times[2]);
    /// As whoever this thread acts as: the kernel says whether that user may.
    result<void> set_mode(mode_t mode);
    result<void> set_owner(uid_t user, gid_t group);

    /// Nobody uses it for now: it gives up what others may want. False: it is not worth being kept.
    bool rest();

  private:
    friend class open_containers;
    class held;
    class lent_marker;

    result<void> shown(result<void> done) const;
    [[nodiscard]] failure shown(failure why) const;
    result<void> find_owner(int directory);
    [[nodiscard]] uint64_t signature_of_others();
    void note_others();

    file_key key_;
    const std::string shown_as_;
    std::mutex opening_;
    bool is_open_ = false;
    std::string opened_as_;
    log_file log_;
    std::atomic<std::shared_ptr<const user_identity>> owner_;
    std::atomic<bool> has_written_{false};
    std::atomic<bool> has_read_{false};
    std::atomic<int64_t> refreshed_ns_{0};
    std::atomic<bool> has_name_{true};

    std::mutex pages_;  // for the three below
    uint64_t others_ = 0;
    bool are_stale_ = true;
    int64_t dropped_ns_ = 0;

    // Of open_containers, under its lock.
    size_t uses_ = 0;
    bool is_broken_ = false;
    bool is_idle_ = false;
    std::list<std::shared_ptr<shared_file>>::iterator idle_at_;
    std::optional<discarded> removed_;  // it goes when nobody uses it
};

}  // namespace halcyon::logfs
