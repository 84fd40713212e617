#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "logfs/container/directory/marker.hpp"
#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"

namespace halcyon::logfs {

/// The directory that stands for one logical file. Everything in it is found from its descriptor: a container that is
/// moved while it is open goes on.
class container {
  public:
    explicit container(file_calls& calls = kernel_files()) : calls_(calls) {}
    container(const container&) = delete;
    container& operator=(const container&) = delete;
    ~container() { close(); }

    /// A new one, which others see whole or not at all; where directories are not renamed as a whole, they see an empty
    /// directory for a moment (begun_container.hpp). Of several processes that create it at a time one succeeds.
    /// `mode` is the logical file's. Failure (system): EEXIST when something has the name, whatever it is.
    result<void> create(std::string_view path, mode_t mode, uint32_t host_directories = 32);

    /// One of ours, or of PLFS. Failure (system): there is nothing. Usage: something else. Config: another version, or
    /// its marker is damaged.
    result<void> open(std::string_view path);

    /// Whether a container has this name. False where nobody can tell.
    static bool is_at(file_calls& calls, std::string_view path);

    void close();
    [[nodiscard]] bool is_open() const { return directory_ >= 0; }

    [[nodiscard]] file_calls& calls() const { return calls_; }
    [[nodiscard]] int directory() const { return directory_; }
    /// As it was opened.
    [[nodiscard]] std::string_view path() const {
        return path_.empty() ? std::string_view() : std::string_view(path_.data(), path_.size() - 1);
    }
    [[nodiscard]] uint32_t host_directories() const { return marker_.host_directories; }
    [[nodiscard]] uint64_t id() const { return marker_.id; }
    /// PLFS wrote it: it can be read, and nothing else.
    [[nodiscard]] bool is_plfs() const { return is_plfs_; }
    /// Failure (usage): it is one of PLFS.
    [[nodiscard]] result<void> expect_ours() const;
    /// The file in it whose mode and owner are the logical file's. Ended by 0.
    [[nodiscard]] const char* access_name() const;

    /// Where host directories are made, in place of the container: a list apart by colons, which stays
    /// (other_backends.hpp). Empty: in the container.
    void place_on(std::string_view backends) { backends_ = backends; }
    [[nodiscard]] bool has_other_backends() const { return !backends_.empty(); }

    /// The directory for a host's droppings is there on return; -errno. All that may use the container may use it.
    int make_host_directory(uint32_t number);
    /// Those who may read or write the logical file get as much of this access (0444, 0666) to a file of the container,
    /// whatever the umask of this process takes; to write, nobody else does.
    void share(const char* name, mode_t access);
    /// The name of its index dropping is on the device: the data dropping says so from now on (index_named).
    void note_index_named(const char* data_name);
    /// What another host changes in it may be seen late here (file_systems.hpp).
    [[nodiscard]] bool is_seen_late();
    /// Who may use it has changed: share() looks again.
    void access_changed() { mode_ = 0; }
    /// The container is on the device: its marker, the names in it and its own; -errno.
    int sync();
    /// Likewise, with the names in a host directory.
    int sync(uint32_t host_directory);

    /// `container/name: what: why`, kind system. `error`: positive errno.
    [[nodiscard]] failure failed(std::string_view name, std::string_view what, int error) const;
    /// `container/name: what`, kind config: the container is not as it should be.
    [[nodiscard]] failure damaged(std::string_view name, std::string_view what) const;

  private:
    result<void> read_marker();
    int64_t read_marker_text(std::span<char> out);
    result<void> take_plfs();
    [[nodiscard]] failure no_container(bool has_text) const;
    [[nodiscard]] bool is_renamed_whole();
    int create_beside(mode_t mode);
    int make(const char* path, mode_t mode, mode_t until_made);
    void unmake(const char* path);
    int create_marker(int directory, mode_t& mode);
    int give_its_name(const char* begun);
    int sync_directory(const char* name);
    bool keep_path(std::string_view path);
    [[nodiscard]] std::string full(std::string_view name) const;

    file_calls& calls_;
    memory_source memory_{calls_};
    page_array<char> path_{memory_};
    int directory_ = -1;
    mode_t mode_ = 0;  // of the directory; 0: not known yet
    marker marker_;
    bool is_plfs_ = false;
    signed char is_seen_late_ = -1;  // not known yet
    std::string_view backends_;
};

}  // namespace halcyon::logfs
