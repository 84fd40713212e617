#pragma once

#include <cstdint>
#include <string_view>

#include "logfs/container/directory/container.hpp"
#include "logfs/container/format/dropping_name.hpp"

namespace halcyon::logfs {

/// One data dropping for all writers of a node, `hostdir.7/node.<host>`: each of them has a name of its own for it, as
/// if it were its own, and takes pieces of it in which nobody else writes. So there is one file for each node, however
/// many processes it has, and readers need not know. -errno where something fails.
class node_data {
  public:
    /// Pieces are multiples of that. What a writer leaves of its last one is a hole.
    static constexpr int64_t piece_bytes = int64_t{1} << 20;

    /// Gives the node's file the name `data_name`. Its descriptor; -errno: the file system may have no second names for
    /// files.
    static int open(container& in, std::string_view data_name, std::string_view host);

    /// So many bytes of the file are this process's from now on: where they begin.
    static int64_t take(file_calls& calls, int fd, int64_t bytes);
};

}  // namespace halcyon::logfs
