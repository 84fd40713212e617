#include "logfs/container/tools/flatten.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "logfs/container/directory/file_status.hpp"
#include "logfs/container/directory/node_folder.hpp"
#include "logfs/container/directory/open_mark.hpp"
#include "logfs/container/directory/other_backends.hpp"
#include "logfs/container/directory/past_writes.hpp"
#include "logfs/container/directory/remove_tree.hpp"
#include "logfs/container/files/held_file.hpp"
#include "logfs/container/files/whole_transfer.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/reading/reader.hpp"
#include "logfs/container/tools/file_data.hpp"
#include "logfs/container/tools/flattening_names.hpp"
#include "logfs/container/tools/hidden_name.hpp"
#include "logfs/container/tools/process.hpp"
#include "logfs/container/tools/same_file.hpp"
#include "logfs/container/writing/writer_identity.hpp"

namespace halcyon::logfs {
namespace {

class flattening {
  public:
    flattening(container& from, const std::string& target, const flatten_options& how)
        : container_(from),
          target_(target),
          beside_(hidden_name(target, flattened, from.id())),
          how_(how),
          calls_(from.calls()),
          me_(writer_identity::of_this_process()),
          reader_(from, reading()),
          file_(calls_),
          marker_(calls_),
          data_(reader_) {}

    result<flatten_report> make() {
        is_in_place_ = is_container(target_);
        auto done = write_file();
        if (done.ok()) done = give_name();
        if (!done) {
            if (is_file_mine_) calls_.remove_at(AT_FDCWD, beside_.c_str(), false);
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
        return calls_.status_at(AT_FDCWD, path.c_str(), there) == 0 &&
               calls_.status(container_.directory(), here) == 0 && is_same_file(here, there);
    }

    /// Nobody else says that he has the container open. The lock goes with `marker_`.
    result<void> expect_unused() {
        if (!is_in_place_ || how_.ignores_writers) return {};
        bool is_used = false;
        int fd = calls_.open_at(container_.directory(), container_.access_name(), O_RDWR, 0);
        if (fd == -EACCES || fd == -EROFS) {
            // A file that its owner may not write: whether it is open can be seen, and nobody be kept from opening it.
            fd = calls_.open_at(container_.directory(), container_.access_name(), O_RDONLY, 0);
            is_used = is_held_open(container_);
        } else if (fd >= 0) {
            is_used = keep_alone(calls_, fd) == -EAGAIN;
        }
        if (fd < 0) return container_.failed(container_.access_name(), "cannot open for locking", -fd);
        marker_.reset(fd);
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
            const int fd = calls_.open_at(AT_FDCWD, beside_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
            if (fd < 0) return system_failure(beside_ + ": cannot create", -fd);
            file_.reset(fd);
            if (calls_.lock_alone(fd) == -EWOULDBLOCK)
                return failure{error_kind::unavailable,
                               std::string(container_.path()) + ": another process is flattening it", EBUSY};
            struct stat opened {};
            struct stat named {};
            if (const int done = calls_.status(fd, opened); done != 0)
                return system_failure(beside_ + ": cannot look at it", -done);
            if (opened.st_uid != ::geteuid() && ::geteuid() != 0)
                return failure{error_kind::system, beside_ + ": belongs to another user", EACCES};
            // The one that had it locked has given it its name, or removed it.
            if (calls_.status_at(AT_FDCWD, beside_.c_str(), named) != 0 || !is_same_file(opened, named)) continue;
            is_file_mine_ = true;
            const int done = calls_.set_mode(fd, 0600);
            return done == 0 ? result<void>() : system_failure(beside_ + ": cannot set its mode", -done);
        }
    }

    /// From the beginning: a round in which somebody wrote is for nothing.
    result<void> copy() {
        report_ = {};
        report_.size = reader_.size();
        if (how_.on_size) how_.on_size(report_.size);
        int done = calls_.set_size(file_.get(), 0);
        if (done == 0) done = calls_.set_size(file_.get(), report_.size);
        if (done != 0) return system_failure(beside_ + ": cannot set its size", -done);
        const auto write = [this](int64_t offset, std::span<const std::byte> bytes) { return put(offset, bytes); };
        auto copied = data_.hand_over(report_.size, write, how_.on_progress);
        report_.conflict_bytes = data_.conflict_bytes();
        return copied;
    }

    result<void> put(int64_t offset, std::span<const std::byte> bytes) {
        if (how_.before_write) how_.before_write(static_cast<int64_t>(bytes.size()));
        if (const int done = write_whole(calls_, file_.get(), bytes, offset); done != 0)
            return system_failure(beside_ + ": cannot write", -done);
        report_.written_bytes += static_cast<int64_t>(bytes.size());
        return {};
    }

    /// Mode, owner and times are the logical file's.
    result<void> finish() {
        struct stat of_container {};
        if (auto looked = read_status(container_, {reader_.size(), reader_.latest_ns()}, of_container); !looked)
            return looked;
        const timespec times[2] = {of_container.st_atim, of_container.st_mtim};
        if (const int done = calls_.set_times_at(AT_FDCWD, beside_.c_str(), times); done != 0)
            return system_failure(beside_ + ": cannot set its times", -done);
        // Only root gives files away; a file of the container's owner has that owner anyway.
        if (of_container.st_uid != ::geteuid() || of_container.st_gid != ::getegid())
            calls_.set_owner(file_.get(), of_container.st_uid, of_container.st_gid);
        if (const int done = calls_.set_mode(file_.get(), of_container.st_mode & 07777); done != 0)
            return system_failure(beside_ + ": cannot set its mode", -done);
        const int synced = calls_.sync_names(file_.get());
        return synced == 0 ? result<void>() : system_failure(beside_ + ": cannot sync", -synced);
    }

    /// The file stays locked until it has its name.
    result<void> give_name() {
        if (!is_in_place_) {
            if (const int done = rename(beside_, target_); done != 0)
                return system_failure(target_ + ": cannot rename " + beside_ + " to it", -done);
            is_file_mine_ = false;
            return sync_folder();
        }
        if (auto unused = expect_still_the_same(); !unused) return unused;
        if (auto taken = take_place(); !taken) return taken;
        is_file_mine_ = false;
        // Who waits to open it sees by this that it is no container any more.
        if (!container_.is_plfs()) calls_.remove_at(container_.directory(), container_.access_name(), false);
        marker_.reset();
        if (auto synced = sync_folder(); !synced) return synced;
        remove_other_directories(calls_, container_.directory(), container_.id());
        remove_node_index(calls_, wished_node_folder(), container_.directory());
        if (const int done = remove_tree(calls_, AT_FDCWD, beside_.c_str(), levels_of_container); done != 0)
            return system_failure(beside_ + ": cannot remove the container", -done);
        if (!name_file_.empty()) calls_.remove_at(AT_FDCWD, name_file_.c_str(), false);
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
        const int exchanged = rename(beside_, target_, RENAME_EXCHANGE);
        if (exchanged == 0) {
            if (is_container(beside_)) return {};
            // Something else had its name by then.
            const int back = rename(beside_, target_, RENAME_EXCHANGE);
            if (back == 0) return gone;
            is_file_mine_ = false;
            return system_failure(target_ + ": cannot exchange it for " + beside_ + ", which was here", -back);
        }
        if (exchanged != -EINVAL && exchanged != -ENOSYS)
            return system_failure(target_ + ": cannot exchange it for " + beside_, -exchanged);
        // A file system that cannot: for a moment nothing has the name. Whoever finds what a crash leaves then has to
        // know it.
        if (!is_container(target_)) return gone;
        const std::string aside = beside_ + aside_suffix;
        name_file_ = beside_ + name_suffix;
        if (auto kept = keep_name(); !kept) return kept;
        if (const int done = rename(target_, aside); done != 0)
            return system_failure(target_ + ": cannot rename", -done);
        if (const int done = rename(beside_, target_); done != 0) {
            rename(aside, target_);
            return system_failure(target_ + ": cannot rename " + beside_ + " to it", -done);
        }
        beside_ = aside;
        return {};
    }

    /// Others find the whole name or none.
    result<void> keep_name() {
        const std::string_view name = std::string_view(target_).substr(target_.rfind('/') + 1);
        const std::string begun = name_file_ + ".tmp";
        held_file file(calls_);
        file.reset(calls_.open_at(AT_FDCWD, begun.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644));
        int done = std::min(file.get(), 0);
        if (done == 0) done = write_whole(calls_, file.get(), std::as_bytes(std::span(name)), 0);
        if (done == 0) done = calls_.sync(file.get());
        if (done == 0) done = rename(begun, name_file_);
        if (done == 0) return sync_folder();
        calls_.remove_at(AT_FDCWD, begun.c_str(), false);
        return system_failure(name_file_ + ": cannot write", -done);
    }

    int rename(const std::string& from, const std::string& to, unsigned flags = 0) {
        return calls_.rename_at(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags);
    }

    result<void> sync_folder() {
        const size_t slash = target_.find_last_of('/');
        const std::string folder = slash == std::string::npos ? "." : target_.substr(0, slash + 1);
        held_file directory(calls_);
        directory.reset(calls_.open_at(AT_FDCWD, folder.c_str(), O_RDONLY | O_DIRECTORY, 0));
        const int done = directory ? calls_.sync_names(directory.get()) : directory.get();
        // Some file systems cannot sync a directory; their rename is as durable as it gets.
        if (done == 0 || (directory && done == -EINVAL)) return {};
        return system_failure(folder + ": cannot sync the directory", -done);
    }

    container& container_;
    std::string target_;
    std::string beside_;
    const flatten_options& how_;
    file_calls& calls_;
    writer_identity me_;
    reader reader_;
    held_file file_;
    held_file marker_;       // with the lock that keeps others from opening the container
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

}  // namespace halcyon::logfs
