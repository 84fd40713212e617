#include "logfs/container/tools/flatten.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>

#include "base/descriptor.hpp"
#include "base/sync_path.hpp"
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

class flattening {
  public:
    flattening(container& from, const std::string& target, const flatten_options& how)
        : container_(from),
          target_(target),
          beside_(hidden_name(target, "flattened", from.id())),
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
        how.host = {me_.host, strnlen(me_.host, sizeof me_.host)};
        how.boot_id = {me_.boot_id, strnlen(me_.boot_id, sizeof me_.boot_id)};
        return how;
    }

    bool is_container(const std::string& path) const {
        struct stat here {};
        struct stat there {};
        return ::lstat(path.c_str(), &there) == 0 && ::fstat(container_.directory(), &here) == 0 &&
               is_same_file(here, there);
    }

    result<void> write_file() {
        if (auto read = reader_.reload(); !read) return read;
        if (auto ended = expect_no_writer(); !ended) return ended;
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
        const std::string_view here(me_.host, strnlen(me_.host, sizeof me_.host));
        for (uint32_t i = 0; i < reader_.writers().size(); ++i) {
            const dropping& each = reader_.writers()[i];
            if (each.is_closed || each.is_gone) continue;
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
        return data_.hand_over(report_.size, write, how_.on_progress);
    }

    result<void> put(int64_t offset, std::span<const std::byte> bytes) {
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
        if (auto taken = take_place(); !taken) return taken;
        is_file_mine_ = false;
        if (auto synced = sync_folder(); !synced) return synced;
        std::error_code why;
        std::filesystem::remove_all(beside_, why);
        if (why) return system_failure(beside_ + ": cannot remove the container", why.value());
        return {};
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
        // A file system that cannot: for a moment nothing has the name.
        if (!is_container(target_)) return gone;
        const std::string aside = beside_ + ".container";
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
