#include "logfs/container/tools/flatten.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>

#include "base/descriptor.hpp"
#include "base/replace_file.hpp"
#include "base/sync_path.hpp"
#include "base/text_file.hpp"
#include "logfs/container/directory/node_folder.hpp"
#include "logfs/container/directory/open_mark.hpp"
#include "logfs/container/directory/other_backends.hpp"
#include "logfs/container/directory/past_writes.hpp"
#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/files/whole_transfer.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/reading/reader.hpp"
#include "logfs/container/tools/file_data.hpp"
#include "logfs/container/tools/hidden_name.hpp"
#include "logfs/container/tools/process.hpp"
#include "logfs/container/tools/same_file.hpp"
#include "logfs/container/writing/writer_identity.hpp"

namespace halcyon::logfs {
namespace {

constexpr std::string_view flattened = "flattened";
// Of what stands beside the file where names cannot be exchanged: the container, and the name of both.
constexpr const char* aside_suffix = ".container";
constexpr const char* name_suffix = ".name";

class flattening {
  public:
    flattening(container& from, const std::string& target, const flatten_options& how)
        : container_(from),
          target_(target),
          beside_(hidden_name(target, flattened, from.id())),
          how_(how),
          me_(writer_identity::of_this_process()),
          reader_(from, reading()),
          data_(reader_) {}

    result<flatten_report> make() {
        is_in_place_ = is_container(target_);
        auto done = write_file();
        if (done.ok()) done = give_name();
        if (!done) {
            if (is_file_mine_) ::unlink(beside_.c_str());
            return done.why();
        }
        return report_;
    }

  private:
    reader_options reading() const {
        reader_options how;
        how.verifies_data = how_.verifies_data;
        how.finds_conflicts = !container_.is_plfs();
        how.host = me_.host_view();
        how.boot_id = me_.boot_view();
        return how;
    }

    bool is_container(const std::string& path) const {
        struct stat here {};
        struct stat there {};
        return ::lstat(path.c_str(), &there) == 0 && ::fstat(container_.directory(), &here) == 0 &&
               is_same_file(here, there);
    }

    /// Nobody else says that he has the container open. The lock goes with `marker_`.
    result<void> expect_unused() {
        if (!is_in_place_ || how_.ignores_writers) return {};
        file_calls& calls = kernel_files();
        bool is_used = false;
        int fd = calls.open_at(container_.directory(), container_.access_name(), O_RDWR, 0);
        if (fd == -EACCES || fd == -EROFS) {
            // A file that its owner may not write: whether it is open can be seen, and nobody be kept from opening it.
            fd = calls.open_at(container_.directory(), container_.access_name(), O_RDONLY, 0);
            is_used = is_held_open(container_);
        } else if (fd >= 0) {
            is_used = keep_alone(calls, fd) == -EAGAIN;
        }
        if (fd < 0) return container_.failed(container_.access_name(), "cannot open for locking", -fd);
        marker_ = descriptor(fd);
        if (!is_used) return {};
        marker_.reset();
        return failure{error_kind::unavailable,
                       std::string(container_.path()) +
                           ": a process has it open; flatten it to another name, or when "
                           "that has closed it",
                       EBUSY};
    }

    result<void> write_file() {
        if (auto read = reader_.reload(); !read) return read;
        if (auto whole = expect_no_past_writes(container_); !whole) return whole;
        if (auto ended = expect_no_writer(); !ended) return ended;
        if (auto unused = expect_unused(); !unused) return unused;
        marker_.reset();  // until it is written, others may come
        if (auto opened = open_file(); !opened) return opened;
        constexpr int most_rounds = 3;
        for (int round = 0;; ++round) {
            const uint64_t before = published(reader_);
            if (auto copied = copy(); !copied) return copied;
            if (auto read = reader_.reload(); !read) return read;
            if (published(reader_) == before) break;
            if (round + 1 == most_rounds)
                return failure{
                    error_kind::unavailable,
                    std::string(container_.path()) + ": is being written; flatten it when its writers are done", EBUSY};
        }
        if (auto ended = expect_no_writer(); !ended) return ended;
        return finish();
    }

    /// Where the container is to go: of another host nothing is known but what its writers left.
    result<void> expect_no_writer() const {
        if (!is_in_place_ || how_.ignores_writers) return {};
        const std::string_view here = me_.host_view();
        for (uint32_t i = 0; i < reader_.writers().size(); ++i) {
            const dropping& each = reader_.writers()[i];
            // One that rests finds, when it goes on, that this is no container any more.
            if (each.is_closed || each.rests || each.is_gone) continue;
            const std::string_view path = reader_.writers().name_of(i);
            dropping_name name{.host = "its host", .pid = each.pid};  // as of a container of PLFS
            const bool is_here = parse_dropping_name(path.substr(path.rfind('/') + 1), name) && name.host == here;
            // Without a header it is about to begin, or never did.
            const bool is_this_boot = !each.has_header || reader_.is_of_this_boot(i);
            if (is_here ? !(is_this_boot && is_alive(name.pid)) : !each.has_header) continue;
            return failure{error_kind::unavailable,
                           std::string(container_.path()) + ": process " + std::to_string(name.pid) + " of " +
                               std::string(name.host) +
                               (is_here ? " has it open" : " did not close it, and may still write") +
                               "; flatten it to another name, or when that has ended",
                           EBUSY};
        }
        return {};
    }

    /// Whoever has it locked is at it. What one that was killed left is written over.
    result<void> open_file() {
        for (;;) {
            file_ = descriptor(::open(beside_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
            if (!file_) return system_failure(beside_ + ": cannot create", errno);
            if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
                return failure{error_kind::unavailable,
                               std::string(container_.path()) + ": another process is flattening it", EBUSY};
            struct stat opened {};
            struct stat named {};
            if (::fstat(file_.get(), &opened) != 0) return system_failure(beside_ + ": cannot look at it", errno);
            if (opened.st_uid != ::geteuid() && ::geteuid() != 0)
                return failure{error_kind::system, beside_ + ": belongs to another user", EACCES};
            // The one that had it locked has given it its name, or removed it.
            if (::lstat(beside_.c_str(), &named) != 0 || !is_same_file(opened, named)) continue;
            is_file_mine_ = true;
            if (::fchmod(file_.get(), 0600) != 0) return system_failure(beside_ + ": cannot set its mode", errno);
            return {};
        }
    }

    /// From the beginning: a round in which somebody wrote is for nothing.
    result<void> copy() {
        report_ = {};
        report_.size = reader_.size();
        if (how_.on_size) how_.on_size(report_.size);
        if (::ftruncate(file_.get(), 0) != 0 || ::ftruncate(file_.get(), report_.size) != 0)
            return system_failure(beside_ + ": cannot set its size", errno);
        const auto write = [this](int64_t offset, std::span<const std::byte> bytes) { return put(offset, bytes); };
        auto copied = data_.hand_over(report_.size, write, how_.on_progress);
        report_.conflict_bytes = data_.conflict_bytes();
        return copied;
    }

    result<void> put(int64_t offset, std::span<const std::byte> bytes) {
        if (how_.before_write) how_.before_write(static_cast<int64_t>(bytes.size()));
        if (const int done = write_whole(kernel_files(), file_.get(), bytes, offset); done != 0)
            return system_failure(beside_ + ": cannot write", -done);
        report_.written_bytes += static_cast<int64_t>(bytes.size());
        return {};
    }

    result<void> finish() {
        struct stat mark {};
        if (const int done = container_.calls().status_at(container_.directory(), container_.access_name(), mark);
            done != 0)
            return container_.failed(container_.access_name(), "cannot look at", -done);
        // Only root gives files away; a file of the container's owner has that owner anyway.
        if (mark.st_uid != ::geteuid() || mark.st_gid != ::getegid())
            static_cast<void>(::fchown(file_.get(), mark.st_uid, mark.st_gid) == 0);
        if (::fchmod(file_.get(), mark.st_mode & 07777) != 0)
            return system_failure(beside_ + ": cannot set its mode", errno);
        if (::fsync(file_.get()) != 0) return system_failure(beside_ + ": cannot sync", errno);
        return {};
    }

    /// The file stays locked until it has its name.
    result<void> give_name() {
        if (!is_in_place_) {
            if (::rename(beside_.c_str(), target_.c_str()) != 0)
                return system_failure(target_ + ": cannot rename " + beside_ + " to it", errno);
            is_file_mine_ = false;
            return sync_folder();
        }
        if (auto unused = expect_still_the_same(); !unused) return unused;
        if (auto taken = take_place(); !taken) return taken;
        is_file_mine_ = false;
        // Who waits to open it sees by this that it is no container any more.
        if (!container_.is_plfs()) ::unlinkat(container_.directory(), container_.access_name(), 0);
        marker_.reset();
        if (auto synced = sync_folder(); !synced) return synced;
        remove_other_directories(container_.calls(), container_.directory(), container_.id());
        remove_node_index(container_.calls(), wished_node_folder(), container_.directory());
        std::error_code why;
        // Another agent that finds it there removes it, too: then names are gone that were listed just now.
        constexpr auto is_gone = std::errc::no_such_file_or_directory;
        do {
            std::filesystem::remove_all(beside_, why);
        } while (why == is_gone && ::access(beside_.c_str(), F_OK) == 0);
        if (why && why != is_gone) return system_failure(beside_ + ": cannot remove the container", why.value());
        if (!name_file_.empty()) ::unlink(name_file_.c_str());
        return {};
    }

    /// Nobody has come while it was written, and from here on nobody can.
    result<void> expect_still_the_same() {
        if (how_.ignores_writers) return {};
        if (auto unused = expect_unused(); !unused) return unused;
        const uint64_t before = published(reader_);
        if (auto read = reader_.reload(); !read) return read;
        if (published(reader_) == before) return expect_no_writer();
        return failure{error_kind::unavailable,
                       std::string(container_.path()) + ": was written meanwhile; flatten it when its writers are done",
                       EBUSY};
    }

    /// On success the container has the hidden name, otherwise all is as it was.
    result<void> take_place() {
        const failure gone{error_kind::unavailable, target_ + ": is not the container any more", ESTALE};
        if (::renameat2(AT_FDCWD, beside_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) {
            if (is_container(beside_)) return {};
            // Something else had its name by then.
            if (::renameat2(AT_FDCWD, beside_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) return gone;
            is_file_mine_ = false;
            return system_failure(target_ + ": cannot exchange it for " + beside_ + ", which was here", errno);
        }
        if (errno != EINVAL && errno != ENOSYS)
            return system_failure(target_ + ": cannot exchange it for " + beside_, errno);
        // A file system that cannot: for a moment nothing has the name. Whoever finds what a crash leaves then has to
        // know it.
        if (!is_container(target_)) return gone;
        const std::string aside = beside_ + aside_suffix;
        name_file_ = beside_ + name_suffix;
        const std::string_view name = std::string_view(target_).substr(target_.rfind('/') + 1);
        if (auto kept = replace_file(name_file_, name, lasting::yes); !kept) return kept;
        if (::rename(target_.c_str(), aside.c_str()) != 0) return system_failure(target_ + ": cannot rename", errno);
        if (::rename(beside_.c_str(), target_.c_str()) != 0) {
            const int why = errno;
            static_cast<void>(::rename(aside.c_str(), target_.c_str()));
            return system_failure(target_ + ": cannot rename " + beside_ + " to it", why);
        }
        beside_ = aside;
        return {};
    }

    result<void> sync_folder() const {
        const size_t slash = target_.find_last_of('/');
        return sync_directory(slash == std::string::npos ? "." : target_.substr(0, slash + 1));
    }

    container& container_;
    std::string target_;
    std::string beside_;
    const flatten_options& how_;
    writer_identity me_;
    reader reader_;
    descriptor file_;
    descriptor marker_;      // with the lock that keeps others from opening the container
    std::string name_file_;  // "": none was needed
    file_data data_;
    flatten_report report_;
    bool is_in_place_ = false;
    bool is_file_mine_ = false;  // it has the hidden name, and is locked
};

}  // namespace

result<flatten_report> flatten(container& from, const std::string& target, const flatten_options& how) {
    std::string plain = target;
    while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
    return flattening(from, plain, how).make();
}

namespace {

namespace fs = std::filesystem;

/// What killed processes left in one folder.
class leftovers {
  public:
    explicit leftovers(std::string folder) : folder_(std::move(folder)) {}

    result<void> finish() {
        std::error_code why;
        for (fs::directory_iterator at(folder_, why), end; !why && at != end; at.increment(why)) {
            const std::string name = at->path().filename();
            if (name.starts_with(prefix)) names_.insert(name);
        }
        if (why) return system_failure(folder_ + ": cannot list", why.value());
        if (names_.empty()) return {};
        result<void> done;
        for (const std::string& name : names_) {
            if (auto one = finish(name); !one && done.ok()) done = one;
        }
        return done;
    }

  private:
    static constexpr std::string_view prefix = ".halcyon-flattened-";

    [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

    /// Each name is that of a file, or of a container, or of one of the two that belong to them.
    result<void> finish(const std::string& name) {
        if (name.ends_with(aside_suffix))
            return finish_renaming(name.substr(0, name.size() - std::strlen(aside_suffix)));
        if (name.ends_with(name_suffix)) {
            const std::string file = name.substr(0, name.size() - std::strlen(name_suffix));
            // Where the container is still aside, it says to whom the file belongs.
            if (!names_.contains(file + aside_suffix)) ::unlink(path(name).c_str());
            return {};
        }
        struct stat there {};
        if (::lstat(path(name).c_str(), &there) != 0) return {};
        if (S_ISDIR(there.st_mode)) return was_container(name) ? remove(name) : result<void>();
        if (names_.contains(name + aside_suffix) || is_of_container(name)) return {};
        return remove_file(name);
    }

    /// With its marker, or without, as it is when its place was taken. Else something foreign has got the name.
    [[nodiscard]] bool was_container(const std::string& name) const {
        container candidate;
        if (candidate.open(path(name))) return std::to_string(candidate.id()) == name.substr(prefix.size());
        std::error_code why;
        for (fs::directory_iterator at(path(name), why), end; !why && at != end; at.increment(why)) {
            const std::string inner = at->path().filename();
            uint32_t number = 0;
            const bool is_known = parse_host_directory(inner, number) || inner == append_lock_name ||
                                  inner == punched_name || inner == times_name || inner == descriptor_name;
            if (!is_known) return false;
        }
        return !why;
    }

    /// A file has its place.
    [[nodiscard]] result<void> remove(const std::string& name) const {
        uint64_t id = 0;
        std::from_chars(name.data() + prefix.size(), name.data() + name.size(), id);
        const descriptor directory(::open(path(name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
        if (directory) {
            remove_other_directories(kernel_files(), directory.get(), id);
            remove_node_index(kernel_files(), wished_node_folder(), directory.get());
        }
        std::error_code why;
        fs::remove_all(path(name), why);
        return why ? system_failure(path(name) + ": cannot remove", why.value()) : result<void>();
    }

    /// Nothing had the name when the process was killed, or the file had it already.
    [[nodiscard]] result<void> finish_renaming(const std::string& file) const {
        const std::string name_file = path(file + name_suffix);
        if (const descriptor held = locked(path(file)); held) {
            const auto name = read_text_file(name_file);
            if (!name) return name.why();
            const int done = ::renameat2(AT_FDCWD, path(file).c_str(), AT_FDCWD, path(*name).c_str(), RENAME_NOREPLACE);
            if (done != 0 && (errno == EINVAL || errno == ENOSYS)) {
                struct stat there {};
                if (::lstat(path(*name).c_str(), &there) != 0 && ::rename(path(file).c_str(), path(*name).c_str()) != 0)
                    return system_failure(path(file) + ": cannot rename", errno);
            } else if (done != 0 && errno != EEXIST) {
                return system_failure(path(file) + ": cannot rename", errno);
            }
            if (auto synced = sync_directory(folder_); !synced) return synced;
        } else if (struct stat there{}; ::lstat(path(file).c_str(), &there) == 0) {
            return {};  // somebody is at it
        }
        if (auto gone = remove(file + aside_suffix); !gone) return gone;
        ::unlink(name_file.c_str());
        return {};
    }

    /// Empty: there is none, or a process writes it.
    static descriptor locked(const std::string& file) {
        descriptor held(::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
        if (held && ::flock(held.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) held.reset();
        return held;
    }

    /// The next one who flattens that container writes over it.
    [[nodiscard]] bool is_of_container(const std::string& file) {
        if (!ids_) look_at_containers();
        return ids_->contains(file.substr(prefix.size()));
    }

    void look_at_containers() {
        ids_.emplace();
        std::error_code why;
        for (fs::directory_iterator at(folder_, why), end; !why && at != end; at.increment(why)) {
            if (!at->is_directory(why)) continue;
            container candidate;
            if (candidate.open(at->path().string())) ids_->insert(std::to_string(candidate.id()));
        }
    }

    [[nodiscard]] result<void> remove_file(const std::string& name) const {
        const descriptor held = locked(path(name));
        if (!held || ::unlink(path(name).c_str()) == 0 || errno == ENOENT) return {};
        return system_failure(path(name) + ": cannot remove", errno);
    }

    std::string folder_;
    std::set<std::string> names_;
    std::optional<std::set<std::string>> ids_;  // of the containers beside them; none: nobody has asked yet
};

}  // namespace

result<void> finish_flattening(const std::string& folder) {
    return leftovers(folder.empty() ? "." : folder).finish();
}

}  // namespace halcyon::logfs
