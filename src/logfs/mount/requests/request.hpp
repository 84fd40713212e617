#pragma once

#include <fuse_lowlevel.h>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <new>

#include "logfs/mount/state/mounted.hpp"

/// What all handlers of requests share. The kernel names a node by its address, and the root by 1.
namespace halcyon::logfs {

inline mounted& mount_of(fuse_req_t request) {
    return *static_cast<mounted*>(::fuse_req_userdata(request));
}

inline node& node_of(mounted& in, fuse_ino_t number) {
    return number == FUSE_ROOT_ID ? in.nodes.root() : *reinterpret_cast<node*>(number);
}

inline fuse_ino_t number_of(mounted& in, node& of) {
    return &of == &in.nodes.root() ? FUSE_ROOT_ID : reinterpret_cast<fuse_ino_t>(&of);
}

/// The program gets a number, the log the reason, where the program can do nothing about it.
inline int noted(mounted& in, const failure& why) {
    if (why.kind != error_kind::usage && why.system_errno != EEXIST) in.log.say(why.message);
    return number_of(why);
}

/// `call()` again, with descriptors that nobody needs right now closed, for as long as it fails for lack of one.
template <class Call>
auto with_room(mounted& in, Call call) {
    for (;;) {
        auto done = call();
        if (done.ok() || (done.why().system_errno != EMFILE && done.why().system_errno != ENFILE)) return done;
        const bool had_places = in.nodes.make_room();
        const bool had_containers = in.containers.drop_idle();
        if (!had_places && !had_containers) return done;
    }
}

/// Likewise of a system call that opens something; interrupted by nothing. 0 or a positive errno.
template <class Open>
int open_with_room(mounted& in, descriptor& out, Open open) {
    const auto opened = with_room(in, [&]() -> result<void> {
        int fd = -1;
        do {
            fd = open();
        } while (fd < 0 && errno == EINTR);
        if (fd < 0) return failure{error_kind::system, {}, errno};
        out = descriptor(fd);
        return {};
    });
    return opened ? 0 : opened.why().system_errno;
}

/// A node's container, and why it is not: ESTALE where the name has another file by now, and the kernel looks again.
inline result<open_containers::use> take(mounted& in, node& of, const place& at) {
    auto taken = with_room(in, [&] { return in.containers.take(of.key(), at->get(), in.nodes.path_of(of)); });
    if (taken || in.nodes.is_there(of)) return taken;
    return failure{error_kind::usage, in.nodes.path_of(of) + ": another file has this name now", ESTALE};
}

/// A handler as libfuse calls it: exceptions must not pass there. Handlers reply last, so none has replied before.
template <auto handler>
struct safely;
template <class... Arguments, void (*handler)(fuse_req_t, Arguments...)>
struct safely<handler> {
    static void call(fuse_req_t request, Arguments... arguments) {
        try {
            handler(request, arguments...);
        } catch (const std::bad_alloc&) {
            ::fuse_reply_err(request, ENOMEM);
        } catch (const std::exception& why) {
            mount_of(request).log.say(why.what());
            ::fuse_reply_err(request, EIO);
        }
    }
};

/// Each adds its handlers.
void add_name_requests(fuse_lowlevel_ops& to);
void add_attribute_requests(fuse_lowlevel_ops& to, const mount_options& options);
void add_file_requests(fuse_lowlevel_ops& to);
void add_folder_requests(fuse_lowlevel_ops& to);

}  // namespace halcyon::logfs
