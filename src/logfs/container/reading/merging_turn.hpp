#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "logfs/container/directory/node_folder.hpp"
#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/files/memory_source.hpp"

namespace halcyon::logfs {

/// Which of a node's processes merges the indexes of a container, where several need that at the same moment: the first
/// one, and the others wait for what it leaves (shared_index.hpp).
///
/// Who merges has the exclusive lock of a byte in a file of the node's folder; each container has a byte. The lock goes
/// with its process, however that ends. Who waits tries again and again to get a shared one: so nobody who waits is in
/// another one's way. Nobody waits for anything else while it has a lock.
///
/// Who left nothing, and who waited in vain, takes the file's name away. Those who wait for that file's lock find it
/// free from then on, and each merges for itself; those who come later lock another file. So a process that fails makes
/// nobody wait any longer, and one that does not go on makes nobody wait a second time.
class merging_turn {
  public:
    merging_turn(file_calls& calls, memory_source& memory) : calls_(calls), memory_(memory) {}
    merging_turn(const merging_turn&) = delete;
    merging_turn& operator=(const merging_turn&) = delete;
    ~merging_turn() { end(false); }

    /// 0: it is this one's turn, until end(). -EAGAIN: another process or thread merges the container of this name;
    /// wait() waits for it. Another -errno: nobody may be waited for.
    int begin(std::string_view folder, const short_name& name);
    /// Behind -EAGAIN: until that one has ended, and at most so long.
    void wait(int64_t most_ns);
    /// The node's folder, while there is a turn or somebody is waited for.
    [[nodiscard]] node_folder& folder() { return *folder_; }
    /// Of a turn, or behind wait(). Whether there is now what others wait for.
    void end(bool is_left);

  private:
    int lock(const short_name& name);

    file_calls& calls_;
    memory_source& memory_;
    std::optional<node_folder> folder_;
    int locks_ = -1;
    int64_t place_ = 0;
    bool is_mine_ = false;
};

}  // namespace halcyon::logfs
