#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/descriptor.hpp"
#include "logfs/mount/state/file_key.hpp"

namespace halcyon::logfs {

/// Stands for a file or folder of the backend, opened for nothing but that (O_PATH).
using place = std::shared_ptr<const descriptor>;

enum class node_kind : uint8_t {
    folder,
    container,
    other,  ///< a plain file, a symbolic link, a special file
    about,  ///< the link that names this process; the backend has no such file
};

/// What the kernel knows of the backend. All but key and kind is the table's, under its lock.
class node {
  public:
    node(const file_key& key, node_kind kind) : key_(key), kind_(kind) {}

    [[nodiscard]] const file_key& key() const { return key_; }
    [[nodiscard]] node_kind kind() const { return kind_; }
    [[nodiscard]] bool is_container() const { return kind_ == node_kind::container; }

  private:
    friend class node_table;

    file_key key_;
    node_kind kind_;
    bool is_gone_ = false;  // its last name was removed
    bool is_listed_ = false;
    uint64_t lookups_ = 0;  // that the kernel has not taken back
    std::shared_ptr<node> above_;
    std::string name_;
    place at_;
    std::list<node*>::iterator listed_at_;
    std::shared_ptr<node> self_;  // for as long as the kernel knows it
};

/// The nodes of one mount. The kernel may know millions of them: a node's descriptor is closed when too many are open
/// and opened again by folder and name. A node whose name another node has by then is stale (ESTALE), and the kernel
/// looks again.
///
/// Each call returns 0 or a positive errno. Threads may share it.
class node_table {
  public:
    node_table(std::string backend, descriptor root, const struct stat& status, size_t most_places);
    node_table(const node_table&) = delete;
    node_table& operator=(const node_table&) = delete;

    [[nodiscard]] node& root() { return *root_; }
    [[nodiscard]] node& about() { return about_; }

    int at(node& of, place& out);
    /// What has the name in a folder, without a word to the kernel.
    int look(int folder, const char* name, descriptor& out, struct stat& status);
    /// What has the name in a folder. The kernel knows it from now on, until forget().
    int look_up(node& folder, const char* name, node*& out, struct stat& status);
    void forget(node& of, uint64_t lookups);

    /// It has another name.
    void moved(const file_key& what, node& folder, const char* name);
    /// It has no name.
    void gone(const file_key& what);

    /// Whether its name still has it.
    bool is_there(node& of);

    /// For messages: where it is, or was last.
    [[nodiscard]] std::string path_of(node& of);

    /// Closes descriptors of half of the nodes; false: there are none.
    bool make_room();

  private:
    node& know(node& folder, const char* name, descriptor fd, const struct stat& status);
    place keep(node& of, descriptor fd);
    void list(node& of);
    void unlist(node& of);
    void close_beyond(size_t most);

    const std::string backend_;
    const size_t most_places_;
    std::mutex lock_;
    std::shared_ptr<node> root_;
    node about_{{}, node_kind::about};
    std::unordered_map<file_key, node*, hash_of_key> nodes_;
    std::list<node*> listed_;  // those whose descriptors may be closed, the one used last in front
};

/// Of what is open there.
node_kind kind_of(int fd, const struct stat& status);

}  // namespace halcyon::logfs
