#pragma once

#include <cstdint>
#include <string>

#include "logfs/container/directory/container.hpp"

namespace halcyon::logfs {

/// When the newest of the indexes and directories of a container changed, as its file system says, in ns since 1970; 0:
/// nobody can tell.
int64_t newest_change_ns(container& of);

/// That its data droppings take on the device, in bytes.
int64_t room_of_data(container& of);

/// What an agent remembers of a container between two looks at it. Times are those of CLOCK_MONOTONIC.
class attended_container {
  public:
    /// It is looked at again, and again after longer and longer pauses while nothing comes of it.
    [[nodiscard]] bool is_due(int64_t now_ns) const { return now_ns >= next_ns_; }
    void put_off(int64_t now_ns, std::string why);
    /// As when it was seen first.
    void look_soon() { pause_ns_ = next_ns_ = 0; }

    /// It has not changed for so long, as far as it was looked at. No clock of a server is compared with that of this
    /// host.
    bool is_quiet(int64_t change_ns, int64_t now_ns, int64_t quiet_ns);

    /// Why it is as it is; "": it was not tried yet.
    [[nodiscard]] const std::string& why() const { return why_; }

  private:
    int64_t next_ns_ = 0;
    int64_t pause_ns_ = 0;
    int64_t change_ns_ = -1;
    int64_t seen_ns_ = 0;  // when it had changed so first
    std::string why_;
};

}  // namespace halcyon::logfs
