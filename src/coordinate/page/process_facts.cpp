#include "coordinate/page/process_facts.hpp"

#include <stdio.h>

#include <algorithm>

#include "coordinate/page/node_name.hpp"
#include "coordinate/page/own_node.hpp"

namespace halcyon::coordinate::process_facts {

bool name_file(char* out, size_t room, std::string_view directory, const char* host, uint64_t owner) {
    const auto mark = static_cast<unsigned long long>(node_mark(own_node()));
    const int length =
        snprintf(out, room, "%.*s/%.64s-%016llx.%d.%u.coordinate", static_cast<int>(directory.size()), directory.data(),
                 host, mark, process_slot::pid_of(owner), process_slot::start_of(owner));
    return length > 0 && static_cast<size_t>(length) < room;
}

size_t describe(char* out, size_t room, const page& shared, size_t file_systems, const process_slot& slot,
                const char* ending) {
    const auto number = [](const auto& one) { return static_cast<long long>(one.load()); };
    size_t used =
        std::min(room, static_cast<size_t>(snprintf(out, room, "end %s\nforecasts %lld\nforecasts_left_out %lld\n",
                                                    ending, number(slot.forecasts), number(slot.forecasts_left_out))));
    uint64_t begun = 0;
    for (size_t i = 0; i < file_systems; ++i) {
        const process_part& part = slot.at[i];
        const std::string_view mount = shared.file_system[i].mount();
        begun += part.begun.load();
        const int length =
            snprintf(out + used, room - used,
                     "mount %.*s\nphases %lld\nbytes %lld\nbytes_unasked %lld\nwaited_ns %lld\ncalls_let_silent %lld\n"
                     "calls_let_starving %lld\ncalls_let_locks %lld\ncalls_let_others %lld\n",
                     static_cast<int>(mount.size()), mount.data(), number(part.begun), number(part.moved),
                     number(part.unasked), number(part.waited_ns), number(part.let_silent), number(part.let_starving),
                     number(part.let_locks), number(part.let_others));
        if (static_cast<size_t>(length) >= room - used) break;
        used += static_cast<size_t>(length);
    }
    return begun == 0 ? 0 : used;
}

}  // namespace halcyon::coordinate::process_facts
