#pragma once

#include <fuse_lowlevel.h>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <new>

#include "logfs/mount/mounted.hpp"

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
