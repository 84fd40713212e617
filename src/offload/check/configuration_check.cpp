#include "offload/check/configuration_check.hpp"

#include <algorithm>
#include <filesystem>

#include "base/available_memory.hpp"
#include "base/directory_trial.hpp"
#include "base/text_file.hpp"
#include "base/units.hpp"
#include "base/working_directory.hpp"
#include "offload/actions/module_plugin.hpp"
#include "offload/check/mesh_check.hpp"
#include "offload/check/whole_coverage.hpp"
#include "offload/client/directories_at_open.hpp"
#include "offload/model/model.hpp"
#include "offload/model/unstored.hpp"
#include "offload/segment/segment.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload {
namespace {

std::string counted(size_t n, const std::string& noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

/// Bytes of one iteration of the whole run.
result<int64_t> bytes_of_iteration(const model& m, int ranks) {
    int64_t total = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        for (const variable& v : m.variables) {
            for (int block = 0; block < v.blocks_per_client; ++block) {
                const auto shape = shape_of(m, v, {rank, ranks, block});
                if (!shape) return shape.why();
                if (__builtin_add_overflow(total, shape->bytes, &total)) {
                    return failure{error_kind::config, "one iteration has more than 2^63 bytes", 0};
                }
            }
        }
    }
    return total;
}

/// What a server with the ranks [first, end) needs; as at open, the most of any of its clients.
result<arena_need> need_of_clients(const model& m, int first, int end, int ranks) {
    arena_need most;
    for (int rank = first; rank < end; ++rank) {
        const auto need = need_of(m, rank, ranks);
        if (!need) return need.why();
        most = most.joined(*need);
    }
    return most;
}

/// The bytes that the most demanding node needs. Failure (config): the buffer is smaller.
result<uint64_t> bytes_of_node(const model& m, const intended_run& run) {
    uint64_t most = 0;
    for (int first = 0; first < run.ranks; first += run.ranks_per_node) {
        const int clients = std::min(run.ranks_per_node, run.ranks - first);
        const int servers = std::min(m.servers_per_node, clients);
        for (int begin = 0, end = 0; begin < clients; begin = end) {
            while (end < clients && server_of(end, clients, servers) == server_of(begin, clients, servers)) ++end;
            const auto need = need_of_clients(m, first + begin, first + end, run.ranks);
            if (!need) return need.why();
            const auto of_server = static_cast<uint32_t>(end - begin);
            if (const auto planned = plan_segment(m, of_server, *need, servers); !planned) return planned.why();
            most = std::max(most, least_bytes(m, of_server, *need, servers));
        }
    }
    return most;
}

/// Loads the stores' modules, as a server would, and looks whether they can do what is asked of them.
void check_stores(const model& m, configuration_check& found) {
    for (const store& s : m.stores) {
        const auto module = load_store_module(s.type);
        if (!module)
            found.refusals.push_back(s.type_where + ": " + module.why().message);
        else if (const auto fits = check_settings(s, module->traits); !fits)
            found.refusals.push_back(fits.why().message);
    }
}

/// Whether views, which programs draw, will show the variables of some store. A module that is missing says nothing.
bool has_view(const model& m) {
    return std::any_of(m.stores.begin(), m.stores.end(), [](const store& s) {
        const auto module = load_store_module(s.type);
        return !module || module->traits.has_view();
    });
}

/// What runs on every machine: the code that the configuration names can be loaded here.
void check_modules(const model& m, const std::filesystem::path& here, configuration_check& found) {
    check_stores(m, found);
    plugin_place place;
    place.working_directory = here.string();
    for (const action& a : m.actions)
        if (a.is_plugin())
            if (const auto loaded = load_module(m, a, place); !loaded) found.refusals.push_back(loaded.why().message);
}

/// What this machine has: open reserves the buffer of each node at once.
void check_memory(const model& m, configuration_check& found) {
    const auto available = static_cast<int64_t>(available_memory());
    if (m.run_inline || m.buffer.bytes <= available) return;
    found.refusals.push_back(m.buffer.size_where + ": " + format_bytes(m.buffer.bytes) +
                             " are more than the memory of this machine that is available, " + format_bytes(available));
}

/// What lies on this machine's disks now. Nothing is changed: what is missing is made at open. `here`: where relative
/// paths start.
void check_directories(const model& m, const std::filesystem::path& here, configuration_check& found) {
    const auto try_it = [&found](const std::string& where, const char* what, const std::filesystem::path& directory) {
        std::error_code none;
        const bool exists = std::filesystem::exists(directory, none);
        if (const auto tried = try_directory(directory); !tried)
            found.refusals.push_back(where + ": " + what + " " + directory.string() + " cannot be " +
                                     (exists ? "written" : "made") + ": " + tried.why().message);
    };
    if (!m.run_inline) {
        if (const auto spills = check_spill_directory(m); !spills) found.refusals.push_back(spills.why().message);
        if (!m.server.log_directory.empty())
            try_it(m.server.log_where, "log directory", (here / m.server.log_directory).lexically_normal());
    }
    std::error_code none;
    for (const store& s : m.stores) {
        const auto directory = (here / s.path).lexically_normal();
        if (std::filesystem::exists(directory, none)) {
            if (const auto files = files_to_replace(m, s, directory); !files) {
                found.refusals.push_back(files.why().message);
                continue;
            }
        }
        try_it(s.path_where, "output directory", directory);
    }
}

/// What holds for a run of this size. Failures: those of shape_of().
result<void> check_run(const model& m, const intended_run& run, configuration_check& found) {
    const auto bytes = bytes_of_iteration(m, run.ranks);
    if (!bytes) return bytes.why();
    found.summary +=
        "; " + format_bytes(*bytes) + " per iteration of " + counted(static_cast<size_t>(run.ranks), "rank");
    if (!m.run_inline) {
        if (const auto needed = bytes_of_node(m, run))
            found.summary += "; a node of " + counted(static_cast<size_t>(run.ranks_per_node), "rank") +
                             " needs at least " + format_bytes(static_cast<int64_t>(*needed)) + " of its buffer of " +
                             format_bytes(m.buffer.bytes);
        else
            found.refusals.push_back(needed.why().message);
    }
    for (const auto& look : {uneven_wholes, undrawn_on_meshes}) {
        if (look == undrawn_on_meshes && !has_view(m)) continue;
        const auto messages = look(m, run.ranks);
        if (!messages) return messages.why();
        found.warnings.insert(found.warnings.end(), messages->begin(), messages->end());
    }
    return {};
}

std::string verdict_of(const model& m, const intended_run& run) {
    std::string said = "OK: looked at every line, " + counted(m.actions.size(), "action");
    if (!m.stores.empty())
        said += ", " + counted(m.stores.size(), "store") +
                (m.stores.size() == 1 ? " with its directory here" : " with their directories here");
    if (!m.run_inline) said += ", the buffer and this machine's memory";
    if (run.ranks <= 0) return said + "; not at blocks, places and meshes: add --ranks N";
    return said + "; and, for " + counted(static_cast<size_t>(run.ranks), "rank") + ", at every block, place and mesh";
}

}  // namespace

result<configuration_check> check_configuration(const std::string& path, const intended_run& run) {
    const auto text = read_text_file(path);
    if (!text) return text.why();
    const auto m = parse_model(*text, path, run.parameters);
    if (!m) return m.why();
    configuration_check found;
    found.summary = m->simulation + ": " + counted(m->parameters.size(), "parameter") + ", " +
                    counted(m->layouts.size(), "layout") + ", " + counted(m->variables.size(), "variable") + ", " +
                    counted(m->events.size(), "event") + ", " + counted(m->stores.size(), "store");
    if (const auto here = working_directory()) {
        check_modules(*m, *here, found);
        check_directories(*m, *here, found);
    } else {
        found.refusals.push_back(here.why().message);
    }
    check_memory(*m, found);
    if (const std::string unstored = unstored_warning(*m); !unstored.empty()) found.warnings.push_back(unstored);
    intended_run whole = run;
    if (run.ranks_per_node <= 0 || run.ranks_per_node > run.ranks) whole.ranks_per_node = run.ranks;
    if (run.ranks > 0)
        if (const auto checked = check_run(*m, whole, found); !checked) return checked.why();
    if (has_view(*m) && draws_nothing(*m, run.ranks))
        found.summary +=
            "; no " + m->simulation + ".xmf for ParaView: no variable of two or three dimensions has a place";
    if (found.refusals.empty()) found.verdict = verdict_of(*m, run);
    return found;
}

}  // namespace halcyon::offload
