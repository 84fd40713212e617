// io.h
#include <pthread.h>

#include <initializer_list>
#include <string>

#include "base/contained.hpp"
#include "base/sized_struct.hpp"
#include "halcyon/io.h"
#include "programs/turns/interruptible_waits.hpp"
#include "programs/turns/turns.hpp"

using halcyon::error_kind;
using halcyon::failure;
using halcyon::result;
using halcyon::coordinate::interruption;

namespace {

thread_local std::string last_message;

/// How often this process was forked: a handle that was opened before belongs to the parent.
std::atomic<uint32_t> forks{0};
[[maybe_unused]] const int forks_are_counted =
    ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

int report(const failure& why) {
    last_message = why.message;
    return static_cast<int>(why.kind);
}

/// Runs `body` so that nothing escapes the C interface.
template <class Body>
int guarded(const Body& body) {
    const result<void> done = halcyon::contained("", body);
    if (done) return HALCYON_OK;
    try {
        return report(done.why());
    } catch (...) {
        last_message = "out of memory";  // short enough to need none
        return HALCYON_ERROR_SYSTEM;
    }
}

failure refused(const char* call, const char* why) {
    return {error_kind::usage, std::string(call) + ": " + why, 0};
}

struct argument {
    const char* name;
    const void* value;
};

result<void> all_given(const char* call, std::initializer_list<argument> arguments) {
    for (const argument& a : arguments)
        if (a.value == nullptr) return refused(call, (std::string(a.name) + " is a null pointer").c_str());
    return {};
}

result<void> of_this_process(const char* call, halcyon_io_handle h) {
    if (h->forks_before == forks.load(std::memory_order_relaxed)) return {};
    return refused(call, "this process was forked off the one that made the handle; call halcyon_io_init here");
}

/// The use of an open handle by one call.
class use {
  public:
    static result<void> begin(use& made, const char* call, halcyon_io_handle h) {
        if (h == nullptr) return refused(call, "the handle is null; call halcyon_io_init first");
        if (!h->is_open) return refused(call, "this handle was given to halcyon_io_finalize");
        if (auto own = of_this_process(call, h); !own) return own;
        if (h->is_used.exchange(true, std::memory_order_acquire))
            return refused(call, "another call with this handle has not returned: one thread at a time may use it");
        made.handle_ = h;
        return {};
    }
    use() = default;
    ~use() {
        if (handle_ != nullptr) handle_->is_used.store(false, std::memory_order_release);
    }
    use(const use&) = delete;
    use& operator=(const use&) = delete;

  private:
    halcyon_io_handle handle_ = nullptr;
};

/// Runs `body` with an open handle, or refuses in the name of `call`.
template <class Body>
int with(const char* call, halcyon_io_handle h, std::initializer_list<argument> arguments, const Body& body) {
    return guarded([&]() -> result<void> {
        use held;
        if (auto begun = use::begin(held, call, h); !begun) return begun;
        if (auto given = all_given(call, arguments); !given) return given;
        return body(*h);
    });
}

/// `wait`: a member of the handle. Handlers of signals may fork in a wait, and their children come back to here.
int wait_with(const char* call, halcyon_io_handle h, result<void> (halcyon_io_turns::*wait)(interruption),
              interruption by) {
    return with(call, h, {}, [&](halcyon_io_turns& at) -> result<void> {
        auto done = (at.*wait)(by);
        if (auto own = of_this_process(call, h); !own) return own;
        return done;
    });
}

}  // namespace

extern "C" {

int halcyon_io_init(const char* config, const char* path, halcyon_io_handle* h) {
    return guarded([&]() -> result<void> {
        if (auto given = all_given("halcyon_io_init", {{"h", h}}); !given) return given;
        *h = nullptr;
        if (auto given = all_given("halcyon_io_init", {{"path", path}}); !given) return given;
        const auto opened = halcyon_io_turns::open(config == nullptr ? "" : config, path);
        if (!opened) return opened.why();
        (*opened)->forks_before = forks.load(std::memory_order_relaxed);
        last_message = (*opened)->why();
        *h = *opened;
        return {};
    });
}

int halcyon_io_prepare(halcyon_io_handle h, const halcyon_io_info* info) {
    return with("halcyon_io_prepare", h, {{"info", info}}, [&](halcyon_io_turns& at) -> result<void> {
        const auto prepared = at.prepare(*info);
        if (!prepared) return prepared.why();
        if (!prepared->empty()) last_message = *prepared;
        return {};
    });
}

int halcyon_io_complete(halcyon_io_handle h) {
    return with("halcyon_io_complete", h, {}, [](halcyon_io_turns& at) { return at.complete(); });
}

int halcyon_io_inform(halcyon_io_handle h) {
    return with("halcyon_io_inform", h, {}, [](halcyon_io_turns& at) -> result<void> {
        at.inform();
        return {};
    });
}

int halcyon_io_check(halcyon_io_handle h, int* authorized) {
    return with("halcyon_io_check", h, {{"authorized", authorized}}, [&](halcyon_io_turns& at) -> result<void> {
        const auto may = at.check();
        if (!may) return may.why();
        *authorized = *may ? 1 : 0;
        return {};
    });
}

int halcyon_io_wait(halcyon_io_handle h) {
    return wait_with("halcyon_io_wait", h, &halcyon_io_turns::wait, {});
}

int halcyon_io_wait_interruptibly(halcyon_io_handle h, int (*has_come)(void* of), void* of) {
    return wait_with("halcyon_io_wait", h, &halcyon_io_turns::wait, {has_come, of});
}

int halcyon_io_join(halcyon_io_handle h) {
    return wait_with("halcyon_io_join", h, &halcyon_io_turns::join, {});
}

int halcyon_io_join_interruptibly(halcyon_io_handle h, int (*has_come)(void* of), void* of) {
    return wait_with("halcyon_io_join", h, &halcyon_io_turns::join, {has_come, of});
}

int halcyon_io_release(halcyon_io_handle h) {
    return with("halcyon_io_release", h, {}, [](halcyon_io_turns& at) { return at.release(); });
}

int halcyon_io_status(halcyon_io_handle h, halcyon_io_status_t* status) {
    return with("halcyon_io_status", h, {{"status", status}}, [&](halcyon_io_turns& at) -> result<void> {
        constexpr size_t own_bytes = offsetof(halcyon_io_status_t, coordination);
        if (auto sized = halcyon::check_size("halcyon_io_status", "halcyon_io_status_t", *status, own_bytes); !sized)
            return sized;
        halcyon::give(at.status(), *status, own_bytes);
        return {};
    });
}

int halcyon_io_finalize(halcyon_io_handle* h) {
    if (const auto given = all_given("halcyon_io_finalize", {{"h", h}}); !given) return report(given.why());
    return with("halcyon_io_finalize", *h, {}, [&](halcyon_io_turns& at) -> result<void> {
        at.close();
        *h = nullptr;
        return {};
    });
}

const char* halcyon_io_error_message(void) {
    return last_message.c_str();
}
}
