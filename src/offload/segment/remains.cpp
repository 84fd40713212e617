#include "offload/segment/remains.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/descriptor.hpp"
#include "base/node_identity.hpp"

namespace halcyon::offload {

remains remains_of(const segment& s, const model& m, uint32_t client) {
    remains found;
    const int64_t stored = s.header().ledger.read().stored_through;
    const auto table = s.table(client);
    for (uint32_t entry = 0; entry < table.size(); ++entry) {
        const block_state state = table[entry].state.load(std::memory_order_acquire);
        if (state != block_state::servers && state != block_state::shared_read) continue;
        auto b = check_block(s, m, client, entry);
        if (!b)
            found.sound = b.why();
        else if (b->iteration > stored)
            found.blocks.push_back(*b);
    }
    std::stable_sort(found.blocks.begin(), found.blocks.end(),
                     [](const checked_block& a, const checked_block& b) { return a.iteration < b.iteration; });
    return found;
}

bool process_is_in_sight(const client_page& page) {
    const uint64_t own = pid_namespace();
    return page.pid.load(std::memory_order_acquire) > 0 && own != 0 &&
           page.pid_namespace.load(std::memory_order_relaxed) == own;
}

bool process_has_ended(const client_page& page) {
    if (!process_is_in_sight(page)) return false;
    const pid_t pid = page.pid.load(std::memory_order_acquire);
    const descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!process) return errno == ESRCH || (::kill(pid, 0) != 0 && errno == ESRCH);
    // One that nobody has reaped yet has ended as well.
    pollfd p{process.get(), POLLIN, 0};
    return ::poll(&p, 1, 0) == 1;
}

}  // namespace halcyon::offload
