#pragma once

#include <cstdint>
#include <string_view>

#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/format/dropping_name.hpp"

/// Where processes of one user on one node leave merged indexes for each other (reading/shared_index.hpp): a folder of
/// that user on a disk or in the memory of the node, which nobody else may look into. A file of it is the index of one
/// container, whose directory its name is made of: so it is found after the container was moved, and not by a copy.
namespace halcyon::logfs {

/// The folder that a user wants, by what the variable HALCYON_LOG_INDEXES says: its path; "none"; "": the usual one,
/// /tmp/halcyon-logs-<user>. An empty name: none.
short_name node_folder_named(std::string_view wish);
/// What the variable says, in programs of our own.
std::string_view wished_node_folder();

class node_folder {
  public:
    node_folder(file_calls& calls, memory_source& memory) : calls_(calls), memory_(memory) {}
    node_folder(const node_folder&) = delete;
    node_folder& operator=(const node_folder&) = delete;
    ~node_folder();

    /// 0; -errno; -EPERM: it is not this user's alone.
    int open(std::string_view path, bool creates);

    /// The file of the container that a directory stands for, in the form of a name.
    static int name_of(file_calls& calls, int container, short_name& out);

    /// A file for reading, which is this user's alone; -errno.
    int open_file(const short_name& name, int64_t& bytes);
    void remove(const short_name& name);

    /// An empty file of which parts are locked, open for reading and writing; -errno. It is made where it is missing.
    int open_locks(const char* name);
    /// It loses its name, unless that is another one's by now. `fd`: of the file.
    void drop_locks(const char* name, int fd);

    /// 0: until this object ends nobody else adds files. -EAGAIN: somebody does.
    int begin_adding();
    /// Makes room for a file of so many bytes, of at most so many in all, by removing the oldest ones. False: there is
    /// none. What somebody began to add and never ended is removed in any case.
    [[nodiscard]] bool make_room(int64_t bytes, int64_t most_bytes);
    /// The file that is to get the name, open for writing; -errno.
    int create(const short_name& name);
    /// It gets its name, where another one may have been. 0, or -errno; then it is gone.
    int keep(const short_name& name);
    void drop(const short_name& name);

  private:
    struct entry;

    file_calls& calls_;
    memory_source& memory_;
    int directory_ = -1;
    int lock_ = -1;
};

/// What processes of this user have left of a container that is being removed.
void remove_node_index(file_calls& calls, std::string_view wish, int container);

}  // namespace halcyon::logfs
