#pragma once

#include <string.h>

#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "logfs/container/format/format.hpp"

namespace halcyon::logfs {

/// Who writes, as each index dropping says.
struct writer_identity {
    char host[host_room] = {};
    char boot_id[boot_id_room] = {};
    int64_t pid = 0;
    int32_t rank = -1;  ///< -1: none
    /// The same in all writers that raise their epochs together (the ranks of an MPI program); 0: alone.
    uint64_t group = 0;
    /// By how much CLOCK_REALTIME of this host may be wrong.
    int64_t clock_bound_ns = 0;

    void set_host(std::string_view name);
    [[nodiscard]] std::string_view host_view() const { return {host, strnlen(host, sizeof host)}; }
    [[nodiscard]] std::string_view boot_view() const { return {boot_id, strnlen(boot_id, sizeof boot_id)}; }

    /// Host, boot, pid and clock of this process, as the system says.
    static writer_identity of_this_process();
};

/// By how much the kernel believes that CLOCK_REALTIME may be wrong (adjtimex); 16 s where nothing disciplines it.
int64_t clock_bound_ns();

}  // namespace halcyon::logfs
