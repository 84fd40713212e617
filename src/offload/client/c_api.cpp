#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <utility>

#include "base/contained.hpp"
#include "base/sized_struct.hpp"
#include "base/working_directory.hpp"
#include "halcyon/halcyon.h"
#include "offload/client/forecast.hpp"
#include "offload/client/notice.hpp"
#include "offload/client/session_opening.hpp"

using halcyon::error_kind;
using halcyon::failure;
using halcyon::result;
using halcyon::offload::client_session;
using halcyon::offload::mpi_session;

namespace {

thread_local std::string last_message;

/// Parameters set before open, and configurations now open in this process.
std::mutex process_mutex;
std::map<std::string, double> next_parameters;
std::set<std::string> open_configurations;

/// How often this process was forked: a session that was opened before belongs to the parent. A count, because asking
/// the system which process this is would be a system call in each write.
std::atomic<uint32_t> forks{0};
[[maybe_unused]] const int forks_are_counted =
    ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

/// What one open takes of this process: its configuration, until the session is gone, and the parameters that were set
/// for it, whether it succeeds or not.
class claim {
  public:
    claim() {
        const std::lock_guard lock(process_mutex);
        parameters_.swap(next_parameters);
    }
    /// A file is one configuration however its path is written. No link is followed: that would be a look at the file
    /// system from every process. Failure (usage): another session of this process has it. System: the path is
    /// relative, and the working directory is gone.
    result<void> take(const std::filesystem::path& config_path) {
        std::filesystem::path full = config_path;
        if (config_path.is_relative()) {
            const auto here = halcyon::working_directory();
            if (!here) return here.why();
            full = *here / config_path;
        }
        path_ = full.lexically_normal().string();
        const std::lock_guard lock(process_mutex);
        taken_ = open_configurations.insert(path_).second;
        if (taken_) return {};
        return failure{error_kind::usage,
                       "halcyon_open: a session with " + config_path.string() + " is already open; close it first", 0};
    }
    claim(const claim&) = delete;
    claim& operator=(const claim&) = delete;
    ~claim() {
        if (!taken_) return;
        const std::lock_guard lock(process_mutex);
        open_configurations.erase(path_);
    }

    [[nodiscard]] const std::map<std::string, double>& parameters() const { return parameters_; }

  private:
    std::string path_;
    std::map<std::string, double> parameters_;
    bool taken_ = false;
};

}  // namespace

namespace {

struct session {
    explicit session(const char* config_path) : opened(config_path, held.parameters()) {}

    claim held;
    mpi_session opened;
};

/// Where one session is. Handles are odd numbers that are never used twice: a copy of a handle that was closed, or what
/// never was one, is found in no place, and nothing is read where it points to.
///
/// A place is held by one call at a time (`held`, taken by exchange, given back by release); whoever holds it may read
/// and change all else of it. Nobody waits for it: a second call is refused. Places are made under process_mutex, are
/// never freed, and serve one session after the other. A handle stands in its place while its session is open.
struct session_place {
    std::atomic<uintptr_t> handle{0};  ///< 0: free
    std::atomic<bool> held{false};
    std::atomic<uint32_t> opened_after{0};  ///< so many forks
    std::unique_ptr<session> open;
    session_place* next = nullptr;
};

std::atomic<session_place*> places{nullptr};

struct giving_back {
    /// A session that could not be opened ends here.
    void operator()(session_place* at) const {
        if (at->handle.load(std::memory_order_relaxed) == 0) at->open.reset();
        at->held.store(false, std::memory_order_release);
    }
};
using held_place = std::unique_ptr<session_place, giving_back>;

/// A place that no session has.
held_place free_place() {
    const std::lock_guard lock(process_mutex);
    session_place* at = places.load(std::memory_order_relaxed);
    while (at != nullptr && (at->handle.load(std::memory_order_relaxed) != 0 || at->held.exchange(true))) at = at->next;
    if (at == nullptr) {
        at = new session_place;
        at->held.store(true, std::memory_order_relaxed);
        at->next = places.load(std::memory_order_relaxed);
        places.store(at, std::memory_order_release);
    }
    return held_place(at);
}

/// The handle of the session that is open in this place.
halcyon_handle give_handle(session_place& at) {
    static std::atomic<uintptr_t> next{1};
    const uintptr_t handle = next.fetch_add(2, std::memory_order_relaxed);
    at.opened_after.store(forks.load(std::memory_order_relaxed), std::memory_order_relaxed);
    at.handle.store(handle, std::memory_order_release);
    return reinterpret_cast<halcyon_handle>(handle);  // NOLINT(performance-no-int-to-ptr): never followed
}

int report(const failure& why) {
    last_message = why.message;
    return static_cast<int>(why.kind);
}

template <class T>
int report(const result<T>& outcome) {
    if (!outcome) return report(outcome.why());
    if (std::string& said = halcyon::offload::notice(); !said.empty()) last_message = std::exchange(said, {});
    return HALCYON_OK;
}

/// Runs `body` so that nothing escapes the C interface, not even from putting a message together.
template <class Body>
int guarded(const Body& body) {
    int code = HALCYON_OK;
    const auto done = halcyon::contained("", [&]() -> result<void> {
        code = body();
        return {};
    });
    if (done) return code;
    try {
        return report(done.why());
    } catch (...) {
        last_message = "out of memory";  // short enough to need none
        return HALCYON_ERROR_SYSTEM;
    }
}

/// An argument that must not be null.
struct argument {
    const char* name;
    const void* value;
};

result<void> all_given(const char* call, std::initializer_list<argument> arguments) {
    for (const argument& a : arguments)
        if (a.value == nullptr)
            return failure{error_kind::usage, std::string(call) + ": " + a.name + " is a null pointer", 0};
    return {};
}

/// The place of an open session, for `call`.
result<held_place> hold(const char* call, halcyon_handle h) {
    const auto refused = [call](const char* why) {
        return failure{error_kind::usage, std::string(call) + ": " + why, 0};
    };
    constexpr const char* not_open = "this handle is of no open session: it was closed, or never given by halcyon_open";
    if (h == nullptr) return refused("there is no open session (the handle is null); call halcyon_open first");
    const auto handle = reinterpret_cast<uintptr_t>(h);
    session_place* at = places.load(std::memory_order_acquire);
    while (at != nullptr && at->handle.load(std::memory_order_acquire) != handle) at = at->next;
    if (at == nullptr) return refused(not_open);
    if (at->opened_after.load(std::memory_order_relaxed) != forks.load(std::memory_order_relaxed))
        return refused("this process was forked off the one that opened the session; only that one may use it");
    if (at->held.exchange(true, std::memory_order_acquire))
        return refused(
            "another call with this handle has not returned: one thread at a time may use a handle, and no handler "
            "of a signal that interrupts such a call");
    held_place held(at);
    if (at->handle.load(std::memory_order_relaxed) != handle) return refused(not_open);  // closed a moment ago
    return held;
}

/// Runs `body` on the client of an open session, or refuses in the name of `call`.
template <class Body>
int in_session(const char* call, halcyon_handle h, std::initializer_list<argument> arguments, Body body) {
    return guarded([&] {
        const auto at = hold(call, h);
        if (!at) return report(at);
        if (auto given = all_given(call, arguments); !given) return report(given);
        return body((*at)->open->opened.client());
    });
}

/// What one process does before it agrees with the others that a session can be opened.
result<void> begin_session(const char* config_path, halcyon_handle* h, held_place& at) {
    if (auto given = all_given("halcyon_open", {{"h", h}, {"config_path", config_path}}); !given) return given;
    at = free_place();
    at->open = std::make_unique<session>(config_path);
    return at->open->held.take(config_path);
}

result<void> can_be_opened_over(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return failure{error_kind::usage, "halcyon_open: the communicator is MPI_COMM_NULL", 0};
    int between_groups = 0;
    MPI_Comm_test_inter(comm, &between_groups);
    if (between_groups != 0)
        return failure{error_kind::usage,
                       "halcyon_open: the communicator is an intercommunicator; give that of one group, or "
                       "one made by MPI_Intercomm_merge",
                       0};
    return {};
}

/// `communicator` is asked for only when MPI runs.
template <class Communicator>
int open_session(const char* config_path, Communicator communicator, halcyon_handle* h) {
    return guarded([&] {
        if (h != nullptr) *h = nullptr;
        if (!halcyon::offload::mpi_runs())
            return report(failure{error_kind::usage,
                                  "halcyon_open: MPI is not running; call it between MPI_Init and MPI_Finalize", 0});
        const MPI_Comm comm = communicator();
        if (auto fits = can_be_opened_over(comm); !fits) return report(fits);
        auto own = halcyon::offload::own_communicator(comm);
        if (!own) return report(own.why());
        held_place at;
        const auto begun = halcyon::offload::agree_after(*own, [&] { return begin_session(config_path, h, at); });
        if (!begun) return report(begun);
        if (auto opened = at->open->opened.open(std::move(*own)); !opened) return report(opened);
        *h = give_handle(*at);
        return static_cast<int>(HALCYON_OK);
    });
}

}  // namespace

extern "C" {

int halcyon_set_parameter(halcyon_handle h, const char* name, double value) {
    return guarded([&] {
        if (auto given = all_given("halcyon_set_parameter", {{"name", name}}); !given) return report(given);
        if (h != nullptr) {
            const auto at = hold("halcyon_set_parameter", h);
            if (!at) return report(at);
            return report((*at)->open->opened.client().set_parameter(name, value));
        }
        const std::lock_guard lock(process_mutex);
        next_parameters[name] = value;
        return static_cast<int>(HALCYON_OK);
    });
}

int halcyon_get_parameter(halcyon_handle h, const char* name, double* value) {
    return in_session("halcyon_get_parameter", h, {{"name", name}, {"value", value}}, [&](client_session& client) {
        const auto found = client.parameter_value(name);
        if (found) *value = *found;
        return report(found);
    });
}

int halcyon_open(const char* config_path, MPI_Comm comm, halcyon_handle* h) {
    return open_session(
        config_path, [comm] { return comm; }, h);
}

int halcyon_open_f(const char* config_path, MPI_Fint comm, halcyon_handle* h) {
    return open_session(
        config_path, [comm] { return MPI_Comm_f2c(comm); }, h);
}

int halcyon_write(halcyon_handle h, const char* variable, const void* data) {
    return halcyon_write_block(h, variable, 0, data);
}

int halcyon_write_block(halcyon_handle h, const char* variable, int block, const void* data) {
    return in_session("halcyon_write", h, {{"variable", variable}},
                      [&](client_session& client) { return report(client.write(variable, block, data, -1)); });
}

int halcyon_write_bytes(halcyon_handle h, const char* variable, int block, const void* data, int64_t bytes) {
    return in_session("halcyon_write", h, {{"variable", variable}}, [&](client_session& client) {
        if (bytes < 0)
            return report(failure{error_kind::usage,
                                  "halcyon_write: data of '" + std::string(variable) + "' has " +
                                      std::to_string(bytes) +
                                      " bytes; give the size of the array, or call halcyon_write_block",
                                  0});
        return report(client.write(variable, block, data, bytes));
    });
}

int halcyon_describe(halcyon_handle h, const char* variable, int block, halcyon_block_info* info) {
    return in_session("halcyon_describe", h, {{"variable", variable}, {"info", info}}, [&](client_session& client) {
        halcyon::offload::scalar_type type{};
        auto shape = client.describe(variable, block, type);
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
    return in_session("halcyon_alloc", h, {{"variable", variable}, {"data", data}}, [&](client_session& client) {
        *data = nullptr;
        auto at = client.alloc(variable, block);
        if (at) *data = *at;
        return report(at);
    });
}

int halcyon_commit(halcyon_handle h, const char* variable, int block) {
    return in_session("halcyon_commit", h, {{"variable", variable}},
                      [&](client_session& client) { return report(client.commit(variable, block)); });
}

int halcyon_clear(halcyon_handle h, const char* variable, int block) {
    return in_session("halcyon_clear", h, {{"variable", variable}},
                      [&](client_session& client) { return report(client.clear(variable, block)); });
}

int halcyon_signal(halcyon_handle h, const char* event) {
    return in_session("halcyon_signal", h, {{"event", event}},
                      [&](client_session& client) { return report(client.signal(event)); });
}

int halcyon_end_iteration(halcyon_handle h) {
    return guarded([&] {
        const auto at = hold("halcyon_end_iteration", h);
        return at ? report((*at)->open->opened.end_iteration()) : report(at);
    });
}

int halcyon_wait(halcyon_handle h, int64_t iteration, halcyon_stage stage) {
    return in_session("halcyon_wait", h, {}, [&](client_session& client) {
        switch (stage) {
            case HALCYON_ACCEPTED:
                return report(client.wait(iteration, client_session::stage::accepted));
            case HALCYON_STORED:
                return report(client.wait(iteration, client_session::stage::stored));
            case HALCYON_DURABLE:
                return report(client.wait(iteration, client_session::stage::durable));
        }
        return report(failure{error_kind::usage,
                              "halcyon_wait: stage " + std::to_string(stage) + " is none of accepted, stored, durable",
                              0});
    });
}

int halcyon_stats(halcyon_handle h, halcyon_stats_t* stats) {
    constexpr size_t own_bytes = offsetof(halcyon_stats_t, iteration);
    return in_session("halcyon_stats", h, {{"stats", stats}}, [&](client_session& client) {
        auto sized = halcyon::check_size("halcyon_stats", "halcyon_stats_t", *stats, own_bytes);
        if (!sized) return report(sized);
        const auto n = client.counts();
        halcyon::give({.size_bytes = sizeof *stats,
                       .iteration = client.iteration(),
                       .blocks = n.blocks,
                       .bytes = n.bytes,
                       .signals = n.signals,
                       .visible_ns = n.visible_ns,
                       .blocked_ns = n.blocked_ns,
                       .skipped_blocks = n.skipped_blocks,
                       .skipped_bytes = n.skipped_bytes,
                       .spilled_blocks = n.spilled_blocks,
                       .spilled_bytes = n.spilled_bytes,
                       .inlined_blocks = n.inlined_blocks,
                       .inlined_bytes = n.inlined_bytes,
                       .server_restarts = client.server_restarts(),
                       .arena_bytes = client.arena_size(),
                       .arena_free_bytes = client.arena_free()},
                      *stats, own_bytes);
        return static_cast<int>(HALCYON_OK);
    });
}

int halcyon_forecast(halcyon_handle h, int64_t n, halcyon_forecast_t* forecast) {
    return guarded([&] {
        if (auto given = all_given("halcyon_forecast", {{"forecast", forecast}}); !given) return report(given);
        if (h != nullptr) {
            if (const auto at = hold("halcyon_forecast", h); !at) return report(at);
        }
        return report(halcyon::offload::forecast_next(n, *forecast));
    });
}

int halcyon_forecast_window(halcyon_handle h, double seconds, halcyon_forecast_t* forecast) {
    return guarded([&] {
        if (auto given = all_given("halcyon_forecast_window", {{"forecast", forecast}}); !given) return report(given);
        if (h != nullptr) {
            if (const auto at = hold("halcyon_forecast_window", h); !at) return report(at);
        }
        return report(halcyon::offload::forecast_window(seconds, *forecast));
    });
}

int halcyon_close(halcyon_handle* h) {
    return guarded([&] {
        if (auto given = all_given("halcyon_close", {{"h", h}}); !given) return report(given);
        const auto at = hold("halcyon_close", *h);
        if (!at) return report(at);
        *h = nullptr;
        (*at)->handle.store(0, std::memory_order_relaxed);
        const std::unique_ptr<session> owned = std::move((*at)->open);
        if (halcyon::offload::mpi_runs()) return report(owned->opened.close());
        const auto became = owned->opened.close_without_mpi();
        if (!became) return report(became);
        return report(failure{error_kind::usage,
                              "halcyon_close: MPI_Finalize was called before, so the processes cannot wait for each "
                              "other until all is stored; what this process wrote is " +
                                  *became + ". Call halcyon_close before MPI_Finalize",
                              0});
    });
}

const char* halcyon_error_message(void) {
    return last_message.c_str();
}

const char* halcyon_version(void) {
    return HALCYON_VERSION_TEXT;
}
}
