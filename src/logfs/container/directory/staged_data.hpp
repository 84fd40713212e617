#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "logfs/container/directory/container.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/format.hpp"

/// Data droppings that lie on a disk of their writer's node until they are brought into the container.
///
///     <stage>/halcyon-staged/<container>/data.…   what the writer has written
///     <stage>/halcyon-staged/<container>/container   its path, as it was when that began, and the inode of its folder
///     hostdir.7/staged.…                          the mark: where that lies; there before the index dropping is
///     hostdir.7/copied.…                          as much of it as was brought
///     hostdir.7/data.…                            in place of both, once all of it is on the device
///
/// So where a data dropping is missing, the mark says why. A reader takes the bytes from the node's disk if that is its
/// own; else as much as the commits of the index say that there is in `copied.…`.
namespace halcyon::logfs {

inline constexpr std::string_view staged_prefix = "staged.";
inline constexpr std::string_view copied_prefix = "copied.";
inline constexpr std::string_view stage_folder = "halcyon-staged";
inline constexpr std::string_view origin_name = "container";
/// Of the directory on the node's disk that a user names.
inline constexpr size_t longest_stage = 512;

/// Of the writer whose index or data dropping has this name, relative to the container.
short_name staged_name(std::string_view dropping);
short_name copied_name(std::string_view dropping);

/// Whose dropping a mark, or what was copied, is of: `staged.x` to `data.x`. False: it is neither.
bool is_staged_name(std::string_view name);

/// Where a staged data dropping lies.
class staged_mark {
  public:
    static constexpr size_t room = 1024;

    /// Of a container, on this node, below the directory that the user named.
    void set(std::string_view host, std::string_view stage, uint64_t container_id);
    /// 0; -ENOENT: there is none; -EIO: it is not whole, or says what none of ours can say; -errno.
    int read(container& in, std::string_view dropping);
    /// A new one. 0, or -errno: then there is none.
    int write(container& in, std::string_view dropping) const;

    [[nodiscard]] std::string_view host() const { return {host_, host_length_}; }
    /// The folder on that host. Ended by 0.
    [[nodiscard]] const char* folder() const { return folder_; }
    /// The file in it: of `room` characters, ended by 0; "": it does not fit.
    void path_of(std::string_view dropping, char* out, size_t room) const;
    /// Whether root may take an open file for what this mark means: it is of the user who wrote the mark, or of the
    /// container's owner. Anybody can write a mark that names data of others. Other users may take what they may read.
    static bool may_mean(container& in, std::string_view dropping, int fd);

  private:
    [[nodiscard]] size_t text(char* out) const;
    bool parse(std::string_view text, uint64_t container_id);

    char host_[host_room] = {};
    size_t host_length_ = 0;
    char folder_[longest_stage + 64] = {};
};

/// Room for any path_of().
inline constexpr size_t staged_path_room = longest_stage + 64 + short_name::room;

/// A staged data dropping on its way into the container. Whoever brings a part again writes the same bytes: the writer
/// and an agent need not know of each other. -errno where something fails.
class brought_data {
  public:
    explicit brought_data(container& to) : container_(to) {}
    brought_data(const brought_data&) = delete;
    brought_data& operator=(const brought_data&) = delete;
    ~brought_data() { close(); }

    /// `dropping`: the index or data dropping of the writer.
    int open(std::string_view dropping);
    [[nodiscard]] bool is_open() const { return fd_ >= 0; }
    /// Bytes of the staged file; they are not on the device yet.
    int copy(int from, int64_t begin, int64_t end);
    /// What was copied is on the device.
    int sync();
    /// How long the file is: more than was synced may be there, and be anything.
    int64_t size();
    void close();

    /// All was brought and synced, and the writer has ended: it is the data dropping now, and the staged one goes. What
    /// a crash leaves of it is done by the next call of the same.
    static int finish(container& to, std::string_view dropping, const staged_mark& from);
    /// Nothing was written: mark and file go.
    static void discard(container& to, std::string_view dropping, const staged_mark& from);

  private:
    container& container_;
    int fd_ = -1;
};

}  // namespace halcyon::logfs
