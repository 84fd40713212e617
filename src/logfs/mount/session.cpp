#include "logfs/mount/session.hpp"

#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/node_identity.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/directory/node_folder.hpp"
#include "logfs/mount/ending.hpp"
#include "logfs/mount/mount_point.hpp"
#include "logfs/mount/requests/request.hpp"
#include "logfs/mount/state/mounted.hpp"

namespace halcyon::logfs {
namespace {

/// How many descriptors this process may have: as many as the system lets it.
size_t raised_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return std::min<rlim_t>(limit.rlim_cur, size_t{1} << 20);
}

struct opened_backend {
    std::string path;
    descriptor root;
    struct stat status {};
    bool is_read_only = false;
};

result<opened_backend> open_backend(const std::string& path) {
    opened_backend made;
    made.root = descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!made.root || ::fstat(made.root.get(), &made.status) != 0)
        return system_failure(path + ": cannot be a backend", errno);
    if (container::is_at(kernel_files(), path))
        return failure{error_kind::usage, path + ": a container; expected the directory that it is in", 0};
    struct statvfs system {};
    made.is_read_only = ::fstatvfs(made.root.get(), &system) == 0 && (system.f_flag & ST_RDONLY) != 0;
    const auto whole = real_mount_point(path);
    if (!whole) return whole.why();
    made.path = *whole;
    return made;
}

/// Where requests for a file of the backend would come back as requests to this process.
bool lies_below(const std::string& path, const std::string& above) {
    return above == "/" ? path != "/" : path.starts_with(above + "/");
}

result<std::string> expect_mount_point(const std::string& path, const std::string& backend) {
    const auto point = real_mount_point(path);
    if (!point) return point.why();
    if (is_abandoned(*point)) {
        return failure{error_kind::usage,
                       path + ": the process that served a mount there has ended; `halcyon mount --unmount " + path +
                           "` takes it away",
                       ENOTCONN};
    }
    if (lies_below(*point, backend))
        return failure{
            error_kind::usage,
            path + ": lies below the backend " + backend + "; expected a directory elsewhere, or the backend", 0};
    struct stat status {};
    if (::stat(point->c_str(), &status) != 0) return system_failure(path, errno);
    if (!S_ISDIR(status.st_mode)) return failure{error_kind::usage, path + ": no directory", ENOTDIR};
    return *point;
}

/// A comma separates options.
std::string option(const std::string& name, const std::string& value) {
    std::string made = name + "=";
    for (const char each : value) {
        if (each == ',' || each == '\\') made += '\\';
        made += each;
    }
    return made;
}

std::string mount_words(const mount_options& options, const opened_backend& backend) {
    std::string words = "default_permissions,subtype=halcyon," + option("fsname", backend.path);
    if (options.is_for_all_users) words += ",allow_other";
    if (options.is_read_only || backend.is_read_only) words += ",ro";
    return words;
}

void begin(void*, fuse_conn_info* connection) {
    // The kernel would drop its pages of a file after each write through it. What others change is looked at when a
    // program opens the file.
    connection->want &= ~static_cast<decltype(connection->want)>(FUSE_CAP_AUTO_INVAL_DATA);
    // The kernel takes set-user-id bits off by itself.
    connection->want &= ~static_cast<decltype(connection->want)>(FUSE_CAP_HANDLE_KILLPRIV);
    // Never: what write() returned would be with the kernel alone, and pages would be written as a whole, with bytes of
    // neighbours that other nodes may have changed.
    connection->want &= ~static_cast<decltype(connection->want)>(FUSE_CAP_WRITEBACK_CACHE);
    connection->max_background = 64;
    connection->congestion_threshold = 48;
}

fuse_lowlevel_ops handlers(const mount_options& options) {
    fuse_lowlevel_ops all{};
    all.init = begin;
    add_name_requests(all);
    add_attribute_requests(all, options);
    add_file_requests(all);
    add_folder_requests(all);
    return all;
}

/// What libfuse has to say, as a line of the log.
failure_log* log_of_libfuse = nullptr;
void say_of_libfuse(fuse_log_level level, const char* format, va_list values) {
    if (level > FUSE_LOG_WARNING) return;
    char line[512];
    std::vsnprintf(line, sizeof line, format, values);
    std::string text(line);
    while (text.ends_with('\n')) text.pop_back();
    log_of_libfuse->say(text);
}

/// The kernel reads ahead 128 KiB unless root says more. It sets that when the mount has answered for the first time.
void read_ahead_further(const known_mount& of) {
    constexpr int wanted_kib = 1024;
    struct stat status {};
    if (::stat(of.point.c_str(), &status) != 0 || !is_in_tree(of)) return;
    std::ofstream("/sys/class/bdi/" + of.device + "/read_ahead_kb") << wanted_kib;
}

struct session_end {
    void operator()(fuse_session* what) const { ::fuse_session_destroy(what); }
};
using session = std::unique_ptr<fuse_session, session_end>;

result<session> begin_session(const mount_options& options, const opened_backend& backend, mounted& all) {
    const std::string words = mount_words(options, backend);
    std::vector<std::string> arguments{"halcyon-mount", "-o", words};
    std::vector<char*> pointers;
    for (std::string& each : arguments) pointers.push_back(each.data());
    fuse_args given = FUSE_ARGS_INIT(static_cast<int>(pointers.size()), pointers.data());
    const fuse_lowlevel_ops all_handlers = handlers(options);
    session made(::fuse_session_new(&given, &all_handlers, sizeof all_handlers, &all));
    ::fuse_opt_free_args(&given);
    if (!made) return failure{error_kind::internal, "libfuse does not take the options " + words, 0};
    return made;
}

result<void> loop(fuse_session* what, unsigned threads) {
    const std::unique_ptr<fuse_loop_config, decltype(&::fuse_loop_cfg_destroy)> how(::fuse_loop_cfg_create(),
                                                                                    &::fuse_loop_cfg_destroy);
    ::fuse_loop_cfg_set_max_threads(how.get(), threads);
    ::fuse_loop_cfg_set_idle_threads(how.get(), threads);
    const int done = ::fuse_session_loop_mt(what, how.get());
    // Positive: the number of a signal.
    return done < 0 ? system_failure("the mount cannot be served any more", -done) : result<void>();
}

opening opening_of(const mount_options& options, size_t descriptors) {
    opening how;
    how.index_folder = wished_node_folder();
    how.may_write = !options.is_read_only;
    how.says_open = true;
    how.writing.has_data_checks = options.has_data_checks;
    how.reading.verifies_data = false;
    how.reading.most_descriptors = static_cast<uint32_t>(std::clamp<size_t>(descriptors / 16, 8, 256));
    return how;
}

/// Before this process works in another directory; none is wanted: no descriptor.
result<descriptor> open_log(const std::string& path) {
    if (path.empty()) return descriptor();
    descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!file) return system_failure(path + ": cannot open", errno);
    return file;
}

/// Is taken out of the tree, where it still is, when this process is done with it.
struct in_tree {
    fuse_session* of;
    known_mount what;

    ~in_tree() {
        if (is_in_tree(what)) ::fuse_session_unmount(of);
    }
};

}  // namespace

result<void> serve(const mount_options& options) {
    const size_t descriptors = raised_descriptor_limit();
    ::umask(0);
    auto backend = open_backend(options.backend);
    if (!backend) return backend.why();
    const auto point = expect_mount_point(options.mount_point, backend->path);
    if (!point) return point.why();

    auto log_file = open_log(options.log_file);
    if (!log_file) return log_file.why();
    if (::access("/dev/fuse", F_OK) != 0)
        return failure{error_kind::unavailable, "no /dev/fuse here: the kernel has no FUSE, or does not show it",
                       ENODEV};

    failure_log log;
    log_of_libfuse = &log;
    ::fuse_set_log_func(say_of_libfuse);
    auto root = std::make_shared<const descriptor>(::fcntl(backend->root.get(), F_DUPFD_CLOEXEC, 0));
    mounted all{options, log, node_table(backend->path, std::move(backend->root), backend->status, descriptors / 2),
                open_containers(log, opening_of(options, descriptors), std::clamp<size_t>(descriptors / 16, 1, 64)),
                removal(std::move(root), host_name())};
    auto made = begin_session(options, *backend, all);
    if (!made) return made.why();
    if (::fuse_session_mount(made->get(), point->c_str()) != 0)
        return failure{error_kind::system, *point + ": cannot be mounted", 0};
    const in_tree mounted_there{made->get(), mount_at(*point).value_or(known_mount{*point, {}, {}, {}})};
    // The process that goes on is another one.
    if (::fuse_daemonize(options.stays_in_foreground ? 1 : 0) != 0) return system_failure("cannot detach", errno);
    if (*log_file)
        log.use_file(*std::move(log_file));
    else if (!options.stays_in_foreground)
        log.use_system_log();
    all.containers.write_as(writer_identity::of_this_process());
    all.session = made->get();

    result<void> served;
    {
        const ending signals(made->get(), mounted_there.what, log, all.open_files);
        if (!options.is_read_only && !backend->is_read_only) all.removed.sweep();
        all.pages.emplace(made->get());
        std::thread(read_ahead_further, mounted_there.what).detach();
        served = loop(made->get(), options.threads);
        all.pages.reset();
    }
    all.containers.close_all();
    return served;
}

}  // namespace halcyon::logfs
