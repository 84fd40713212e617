#include <filesystem>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string>

#include "halcyon/halcyon.h"
#include "offload/client/session_opening.hpp"

using halcyon::error_kind;
using halcyon::failure;
using halcyon::result;
using halcyon::offload::client_session;
using halcyon::offload::mpi_session;

struct halcyon_session {
    std::unique_ptr<mpi_session> opened;
    std::string path;  ///< of its configuration, however the program spelt it
};

namespace {

thread_local std::string last_message;

/// Parameters set before open, and configurations now open in this process.
std::mutex process_mutex;
std::map<std::string, double> next_parameters;
std::set<std::string> open_configurations;

int report(const failure& why) {
    last_message = why.message;
    return static_cast<int>(why.kind);
}

template <class T>
int report(const result<T>& outcome) {
    return outcome ? HALCYON_OK : report(outcome.why());
}

/// Runs `body` so that nothing escapes the C interface.
template <class Body>
int guarded(Body body) {
    try {
        return body();
    } catch (const halcyon::error& thrown) {
        return report(thrown.as_failure());
    } catch (const std::bad_alloc&) {
        return report(failure{error_kind::system, "out of memory", ENOMEM});
    } catch (const std::exception& thrown) {
        return report(failure{error_kind::internal, thrown.what(), 0});
    }
}

failure no_session(const char* call) {
    return {error_kind::usage,
            std::string(call) + ": there is no open session (the handle is null); call halcyon_open first", 0};
}

failure null_argument(const char* call, const char* what) {
    return {error_kind::usage, std::string(call) + ": " + what + " is a null pointer", 0};
}

}  // namespace

#define HALCYON_NEEDS_SESSION(call) \
    if (h == nullptr) return report(no_session(call))
#define HALCYON_NEEDS(call, argument) \
    if ((argument) == nullptr) return report(null_argument(call, #argument))

extern "C" {

int halcyon_set_parameter(halcyon_handle h, const char* name, double value) {
    HALCYON_NEEDS("halcyon_set_parameter", name);
    return guarded([&] {
        if (h != nullptr) return report(h->opened->client().set_parameter(name, value));
        const std::lock_guard lock(process_mutex);
        next_parameters[name] = value;
        return static_cast<int>(HALCYON_OK);
    });
}

int halcyon_open(const char* config_path, MPI_Comm comm, halcyon_handle* h) {
    HALCYON_NEEDS("halcyon_open", h);
    *h = nullptr;
    HALCYON_NEEDS("halcyon_open", config_path);
    return guarded([&] {
        int initialised = 0, finalised = 0;
        MPI_Initialized(&initialised);
        MPI_Finalized(&finalised);
        if (initialised == 0 || finalised != 0)
            return report(failure{error_kind::usage,
                                  "halcyon_open: MPI is not running; call it between MPI_Init and MPI_Finalize", 0});
        if (comm == MPI_COMM_NULL)
            return report(failure{error_kind::usage, "halcyon_open: the communicator is MPI_COMM_NULL", 0});
        int between_groups = 0;
        MPI_Comm_test_inter(comm, &between_groups);
        if (between_groups != 0)
            return report(failure{error_kind::usage,
                                  "halcyon_open: the communicator is an intercommunicator; give that of one group, or "
                                  "one made by MPI_Intercomm_merge",
                                  0});
        std::error_code unknown;
        const std::filesystem::path known = std::filesystem::weakly_canonical(config_path, unknown);
        const std::string path = unknown ? config_path : known.string();
        std::map<std::string, double> parameters;
        bool twice = false;
        {
            const std::lock_guard lock(process_mutex);
            twice = !open_configurations.insert(path).second;
            parameters = std::exchange(next_parameters, {});
        }
        // Everybody of `comm` must come to the same conclusion before anybody goes on.
        const result<void> first =
            twice ? result<void>(failure{
                        error_kind::usage,
                        "halcyon_open: a session with " + std::string(config_path) + " is already open; close it first",
                        0})
                  : result<void>();
        auto agreed = halcyon::offload::agree(comm, first);
        auto opened = agreed ? mpi_session::open(config_path, comm, parameters)
                             : result<std::unique_ptr<mpi_session>>(agreed.why());
        if (!opened) {
            const std::lock_guard lock(process_mutex);
            if (!twice) open_configurations.erase(path);
            return report(opened.why());
        }
        *h = new halcyon_session{std::move(*opened), path};
        return static_cast<int>(HALCYON_OK);
    });
}

int halcyon_open_f(const char* config_path, MPI_Fint comm, halcyon_handle* h) {
    return halcyon_open(config_path, MPI_Comm_f2c(comm), h);
}

int halcyon_write(halcyon_handle h, const char* variable, const void* data) {
    return halcyon_write_block(h, variable, 0, data);
}

int halcyon_write_block(halcyon_handle h, const char* variable, int block, const void* data) {
    HALCYON_NEEDS_SESSION("halcyon_write");
    HALCYON_NEEDS("halcyon_write", variable);
    return guarded([&] { return report(h->opened->client().write(variable, block, data, -1)); });
}

int halcyon_write_bytes(halcyon_handle h, const char* variable, int block, const void* data, int64_t bytes) {
    HALCYON_NEEDS_SESSION("halcyon_write");
    HALCYON_NEEDS("halcyon_write", variable);
    if (bytes < 0)
        return report(failure{error_kind::usage,
                              "halcyon_write: data of '" + std::string(variable) + "' has " + std::to_string(bytes) +
                                  " bytes; give the size of the array, or call halcyon_write_block",
                              0});
    return guarded([&] { return report(h->opened->client().write(variable, block, data, bytes)); });
}

int halcyon_describe(halcyon_handle h, const char* variable, int block, halcyon_block_info* info) {
    HALCYON_NEEDS_SESSION("halcyon_describe");
    HALCYON_NEEDS("halcyon_describe", variable);
    HALCYON_NEEDS("halcyon_describe", info);
    return guarded([&] {
        halcyon::offload::scalar_type type{};
        auto shape = h->opened->client().describe(variable, block, type);
        if (!shape) return report(shape.why());
        *info = {};
        info->type = static_cast<halcyon_type>(type);
        info->bytes = shape->bytes;
        info->rank = shape->dimensions.rank;
        for (int i = 0; i < info->rank; ++i) info->dimensions[i] = shape->dimensions[i];
        return static_cast<int>(HALCYON_OK);
    });
}

int halcyon_alloc(halcyon_handle h, const char* variable, int block, void** data) {
    HALCYON_NEEDS_SESSION("halcyon_alloc");
    HALCYON_NEEDS("halcyon_alloc", variable);
    HALCYON_NEEDS("halcyon_alloc", data);
    *data = nullptr;
    return guarded([&] {
        auto at = h->opened->client().alloc(variable, block);
        if (at) *data = *at;
        return report(at);
    });
}

int halcyon_commit(halcyon_handle h, const char* variable, int block) {
    HALCYON_NEEDS_SESSION("halcyon_commit");
    HALCYON_NEEDS("halcyon_commit", variable);
    return guarded([&] { return report(h->opened->client().commit(variable, block)); });
}

int halcyon_clear(halcyon_handle h, const char* variable, int block) {
    HALCYON_NEEDS_SESSION("halcyon_clear");
    HALCYON_NEEDS("halcyon_clear", variable);
    return guarded([&] { return report(h->opened->client().clear(variable, block)); });
}

int halcyon_signal(halcyon_handle h, const char* event) {
    HALCYON_NEEDS_SESSION("halcyon_signal");
    HALCYON_NEEDS("halcyon_signal", event);
    return guarded([&] { return report(h->opened->client().signal(event)); });
}

int halcyon_end_iteration(halcyon_handle h) {
    HALCYON_NEEDS_SESSION("halcyon_end_iteration");
    return guarded([&] { return report(h->opened->client().end_iteration()); });
}

int halcyon_wait(halcyon_handle h, int64_t iteration, halcyon_stage stage) {
    HALCYON_NEEDS_SESSION("halcyon_wait");
    return guarded([&] {
        switch (stage) {
            case HALCYON_ACCEPTED:
                return report(h->opened->client().wait(iteration, client_session::stage::accepted));
            case HALCYON_STORED:
                return report(h->opened->client().wait(iteration, client_session::stage::stored));
            case HALCYON_DURABLE:
                return report(h->opened->client().wait(iteration, client_session::stage::durable));
        }
        return report(failure{error_kind::usage,
                              "halcyon_wait: stage " + std::to_string(stage) + " is none of accepted, stored, durable",
                              0});
    });
}

int halcyon_stats(halcyon_handle h, halcyon_stats_t* stats) {
    HALCYON_NEEDS_SESSION("halcyon_stats");
    HALCYON_NEEDS("halcyon_stats", stats);
    return guarded([&] {
        client_session& c = h->opened->client();
        const auto n = c.counts();
        *stats = {c.iteration(),       n.blocks,        n.bytes,          n.signals,
                  n.visible_ns,        n.blocked_ns,    n.skipped_blocks, n.skipped_bytes,
                  n.spilled_blocks,    n.spilled_bytes, n.inlined_blocks, n.inlined_bytes,
                  c.server_restarts(), c.arena_size(),  c.arena_free()};
        return static_cast<int>(HALCYON_OK);
    });
}

int halcyon_close(halcyon_handle* h) {
    HALCYON_NEEDS("halcyon_close", h);
    if (*h == nullptr) return report(no_session("halcyon_close"));
    return guarded([&] {
        const std::unique_ptr<halcyon_session> owned(std::exchange(*h, nullptr));
        const auto outcome = owned->opened->close();
        const std::lock_guard lock(process_mutex);
        open_configurations.erase(owned->path);
        return report(outcome);
    });
}

const char* halcyon_error_message(void) {
    return last_message.c_str();
}

const char* halcyon_version(void) {
    return HALCYON_VERSION_TEXT;
}
}
