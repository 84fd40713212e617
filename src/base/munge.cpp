#include "base/munge.hpp"

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/loaded_library.hpp"

namespace halcyon {

/// The functions of libmunge.so.2, as munge.h declares them; its error codes and options are ints.
struct munge_library {
    void* (*ctx_create)();
    void (*ctx_destroy)(void*);
    int (*ctx_set)(void*, int option, ...);
    const char* (*ctx_strerror)(void*);
    int (*encode)(char** credential, void*, const void* bytes, int length);
    int (*decode)(const char* credential, void*, void** bytes, int* length, uid_t*, gid_t*);
};

namespace {

constexpr const char* library_name = "libmunge.so.2";
constexpr int option_socket = 8;                 // MUNGE_OPT_SOCKET
constexpr int success = 0, error_no_daemon = 6;  // EMUNGE_SUCCESS, EMUNGE_SOCKET

struct loaded {
    munge_library functions{};
    std::string why_not;  ///< empty: loaded
};

loaded load_once() {
    loaded l;
    loaded_library library(library_name);
    library.find("munge_ctx_create", l.functions.ctx_create);
    library.find("munge_ctx_destroy", l.functions.ctx_destroy);
    library.find("munge_ctx_set", l.functions.ctx_set);
    library.find("munge_ctx_strerror", l.functions.ctx_strerror);
    library.find("munge_encode", l.functions.encode);
    library.find("munge_decode", l.functions.decode);
    l.why_not = library.why_not();
    return l;
}

using context = std::unique_ptr<void, void (*)(void*)>;
using allocated = std::unique_ptr<void, void (*)(void*)>;

/// One a call: contexts must not be shared by threads.
context context_for(const munge_library& library, const std::string& daemon_socket) {
    context made(library.ctx_create(), library.ctx_destroy);
    if (made && !daemon_socket.empty() && library.ctx_set(made.get(), option_socket, daemon_socket.c_str()) != success)
        made.reset();
    return made;
}

failure refused(const munge_library& library, void* c, int code, const char* what) {
    const char* const why = library.ctx_strerror(c);
    return {code == error_no_daemon ? error_kind::unavailable : error_kind::usage,
            std::string("MUNGE ") + what + ": " + (why != nullptr ? why : "error " + std::to_string(code)), 0};
}

failure no_context() {
    return {error_kind::system, "MUNGE: no memory", ENOMEM};
}

}  // namespace

result<munge> munge::load(std::string daemon_socket) {
    static const loaded l = load_once();
    if (!l.why_not.empty()) return failure{error_kind::unavailable, "MUNGE: " + l.why_not, 0};
    return munge(l.functions, std::move(daemon_socket));
}

result<std::string> munge::encode(std::string_view payload) const {
    const context c = context_for(*library_, daemon_socket_);
    if (!c) return no_context();
    char* credential = nullptr;
    const int code = library_->encode(&credential, c.get(), payload.data(), static_cast<int>(payload.size()));
    const allocated freed(credential, std::free);
    if (code != success) return refused(*library_, c.get(), code, "gave no credential");
    return std::string(credential);
}

result<munge::decoded> munge::decode(std::string_view credential) const {
    const context c = context_for(*library_, daemon_socket_);
    if (!c) return no_context();
    void* bytes = nullptr;
    int length = 0;
    decoded who;
    const int code = library_->decode(std::string(credential).c_str(), c.get(), &bytes, &length, &who.uid, &who.gid);
    const allocated freed(bytes, std::free);
    if (code != success) return refused(*library_, c.get(), code, "refuses the credential");
    if (bytes != nullptr && length > 0)
        who.payload.assign(static_cast<const char*>(bytes), static_cast<size_t>(length));
    return who;
}

}  // namespace halcyon
