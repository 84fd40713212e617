#include "programs/free_core.hpp"

#include <hwloc.h>
#include <sched.h>

#include <cstdlib>

#include "offload/client/core_binding.hpp"

namespace halcyon {
namespace {

std::string text_of(hwloc_const_cpuset_t set) {
    char* text = nullptr;
    hwloc_bitmap_list_asprintf(&text, set);
    std::string copy = text != nullptr ? text : "";
    std::free(text);
    return copy;
}

}  // namespace

core_taken take_free_core(const std::vector<std::string>& client_cpus, int server) {
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0 || hwloc_topology_load(topology) != 0)
        return {false, "the machine's topology cannot be read: not bound to a core"};
    hwloc_cpuset_t used = hwloc_bitmap_alloc();
    hwloc_cpuset_t one = hwloc_bitmap_alloc();
    bool somebody_bound = false;
    for (const std::string& cpus : client_cpus) {
        if (cpus.empty()) continue;
        hwloc_bitmap_list_sscanf(one, cpus.c_str());
        hwloc_bitmap_or(used, used, one);
        somebody_bound = true;
    }
    // The cores the job may use: those of this process's control group, whatever core its starter was bound to.
    const hwloc_cpuset_t allowed = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology));
    if (offload::share_one_set(client_cpus)) {
        somebody_bound = false;
        if (hwloc_bitmap_intersects(allowed, used)) hwloc_bitmap_and(allowed, allowed, used);
    }
    hwloc_cpuset_t chosen = hwloc_bitmap_alloc();
    core_taken taken;
    std::string& said = taken.said;
    const int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    // From the last core on: launchers fill nodes from the first.
    for (int i = cores - 1; i >= 0 && said.empty() && somebody_bound; --i) {
        hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
        hwloc_bitmap_and(chosen, core->cpuset, allowed);
        if (hwloc_bitmap_iszero(chosen) || hwloc_bitmap_intersects(chosen, used) || server-- > 0) continue;
        if (hwloc_set_cpubind(topology, chosen, HWLOC_CPUBIND_PROCESS) == 0) said = "bound to core " + text_of(chosen);
    }
    taken.own = !said.empty();
    if (!taken.own) {
        hwloc_set_cpubind(topology, allowed, HWLOC_CPUBIND_PROCESS);
        // On a core of the simulation: a batch thread does not push a rank off its core when it wakes, in the middle of
        // the output that woke it, but waits for the next tick. Threads that start later inherit it.
        const sched_param none{};
        if (somebody_bound) static_cast<void>(::sched_setscheduler(0, SCHED_BATCH, &none));
        said = somebody_bound ? "no core of " + text_of(allowed) + " is free of clients: the server shares theirs"
                              : "clients are not bound to cores: the server may run on any of " + text_of(allowed);
    }
    hwloc_bitmap_free(allowed);
    hwloc_bitmap_free(chosen);
    hwloc_bitmap_free(one);
    hwloc_bitmap_free(used);
    hwloc_topology_destroy(topology);
    return taken;
}

}  // namespace halcyon
