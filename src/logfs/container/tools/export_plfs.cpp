#include "logfs/container/tools/export_plfs.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/node_identity.hpp"
#include "base/sync_path.hpp"
#include "logfs/container/directory/past_writes.hpp"
#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/files/whole_transfer.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/plfs_format.hpp"
#include "logfs/container/reading/reader.hpp"
#include "logfs/container/tools/file_data.hpp"
#include "logfs/container/tools/hidden_name.hpp"
#include "logfs/container/tools/same_file.hpp"
#include "logfs/container/writing/writer_identity.hpp"

namespace halcyon::logfs {
namespace {

/// As many as PLFS makes where nobody says how many.
constexpr uint32_t plfs_host_directories = 32;
/// That are kept until they are written together.
constexpr size_t most_records = 4096;
constexpr int64_t second_ns = 1'000'000'000;

int64_t end_of(const plfs_record& what) {
    return what.logical + static_cast<int64_t>(what.length);
}

/// Those that may read or write the file may search its directories: PLFS keeps writers apart by them, too.
mode_t plfs_directory_mode(mode_t file) {
    return 0700 | (file & 0777) | ((file & 0444) >> 2) | ((file & 0222) >> 1);
}

/// `<s>.<us>`, the latter with six digits.
std::string seconds(int64_t time_ns) {
    return std::to_string(time_ns / second_ns) + "." + std::to_string(1'000'000 + time_ns % second_ns / 1000).substr(1);
}

class exporting {
  public:
    exporting(container& from, const std::string& target, const export_options& how)
        : container_(from),
          target_(target),
          folder_(hidden_name(target, "exported", from.id())),
          how_(how),
          me_(writer_identity::of_this_process()),
          host_(host_name()),
          created_ns_(realtime_ns()),
          created_(seconds(created_ns_)),
          host_directory_(folder_ + "/" +
                          std::string(host_directory_name(host_directory_of(host_, plfs_host_directories)).view())),
          reader_(from, reading()),
          data_(reader_) {}

    result<export_report> make() {
        auto done = write_folder();
        if (done.ok()) done = give_name();
        if (!done) {
            std::error_code ignored;
            if (is_folder_mine_) std::filesystem::remove_all(folder_, ignored);
            return done.why();
        }
        return report_;
    }

  private:
    reader_options reading() const {
        reader_options how;
        how.verifies_data = how_.verifies_data;
        how.host = me_.host_view();
        how.boot_id = me_.boot_view();
        return how;
    }

    result<void> write_folder() {
        if (auto free = expect_free_name(); !free) return free;
        if (auto whole = expect_no_past_writes(container_); !whole) return whole;
        if (auto read = reader_.reload(); !read) return read;
        if (auto made = make_folder(); !made) return made;
        if (auto opened = open_droppings(); !opened) return opened;
        constexpr int most_rounds = 3;
        for (int round = 0;; ++round) {
            const uint64_t before = published(reader_);
            if (auto copied = copy(); !copied) return copied;
            if (auto read = reader_.reload(); !read) return read;
            if (published(reader_) == before) break;
            if (round + 1 == most_rounds)
                return failure{
                    error_kind::unavailable,
                    std::string(container_.path()) + ": is being written; export it when its writers are done", EBUSY};
        }
        return finish();
    }

    result<void> expect_free_name() const {
        struct stat there {};
        if (::lstat(target_.c_str(), &there) == 0) return system_failure(target_ + ": cannot export to it", EEXIST);
        return errno == ENOENT ? result<void>() : system_failure(target_ + ": cannot export to it", errno);
    }

    /// Whoever has it locked is at it. What one that was killed left is removed.
    result<void> make_folder() {
        for (;;) {
            if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST)
                return system_failure(folder_ + ": cannot create", errno);
            lock_ = descriptor(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
            if (!lock_ && errno == ENOENT) continue;
            if (!lock_) return system_failure(folder_ + ": cannot open", errno);
            if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
                return failure{error_kind::unavailable,
                               std::string(container_.path()) + ": another process is exporting it", EBUSY};
            struct stat opened {};
            struct stat named {};
            if (::fstat(lock_.get(), &opened) != 0) return system_failure(folder_ + ": cannot look at it", errno);
            if (opened.st_uid != ::geteuid() && ::geteuid() != 0)
                return failure{error_kind::system, folder_ + ": belongs to another user", EACCES};
            // The one that had it locked has given it its name, or removed it.
            if (::lstat(folder_.c_str(), &named) != 0 || !is_same_file(opened, named)) continue;
            is_folder_mine_ = true;
            return empty_folder();
        }
    }

    result<void> empty_folder() const {
        std::error_code why;
        for (std::filesystem::directory_iterator at(folder_, why), end; !why && at != end; at.increment(why)) {
            std::filesystem::remove_all(at->path(), why);
            if (why) break;
        }
        return why ? system_failure(folder_ + ": cannot remove what is in it", why.value()) : result<void>();
    }

    result<void> open_droppings() {
        for (const std::string& each : {host_directory_, meta()}) {
            if (::mkdir(each.c_str(), 0700) != 0) return system_failure(each + ": cannot create", errno);
        }
        if (auto made = create(dropping_of(dropping_kind::data), data_file_); !made) return made;
        return create(dropping_of(dropping_kind::index), index_file_);
    }

    [[nodiscard]] std::string meta() const { return folder_ + "/" + std::string(plfs_meta_name); }

    [[nodiscard]] std::string dropping_of(dropping_kind kind) const {
        short_name path;
        plfs_name name;
        name.created = created_;
        name.host = host_;
        const bool fits = plfs_path({}, kind, name, static_cast<int32_t>(me_.pid), path);
        // Names of hosts have 64 characters at most.
        return host_directory_ + (fits ? std::string(path.view()) : std::string("/?"));
    }

    static result<void> create(const std::string& path, descriptor& into) {
        into = descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        return into ? result<void>() : system_failure(path + ": cannot create", errno);
    }

    /// From the beginning: a round in which somebody wrote is for nothing.
    result<void> copy() {
        report_ = {};
        report_.size = reader_.size();
        records_.clear();
        index_bytes_ = 0;
        for (const descriptor* each : {&data_file_, &index_file_}) {
            if (::ftruncate(each->get(), 0) != 0) return system_failure(host_directory_ + ": cannot begin anew", errno);
        }
        if (how_.on_size) how_.on_size(report_.size);
        const auto write = [this](int64_t offset, std::span<const std::byte> bytes) { return put(offset, bytes); };
        if (auto copied = data_.hand_over(report_.size, write, how_.on_progress); !copied) return copied;
        const int64_t end = records_.empty() ? 0 : end_of(records_.back());
        if (end < report_.size) {
            if (auto added = add_record(report_.size, 0); !added) return added;
        }
        return write_records();
    }

    result<void> put(int64_t offset, std::span<const std::byte> bytes) {
        if (const int done = write_whole(kernel_files(), data_file_.get(), bytes, report_.written_bytes); done != 0)
            return system_failure(dropping_of(dropping_kind::data) + ": cannot write", -done);
        if (!records_.empty() && end_of(records_.back()) == offset)
            records_.back().length += bytes.size();
        else if (auto added = add_record(offset, bytes.size()); !added)
            return added;
        report_.written_bytes += static_cast<int64_t>(bytes.size());
        return {};
    }

    result<void> add_record(int64_t offset, uint64_t length) {
        if (records_.size() == most_records) {
            if (auto written = write_records(); !written) return written;
        }
        const double time_s = in_seconds(created_ns_);
        records_.push_back(
            {offset, report_.written_bytes, length, time_s, time_s, static_cast<int32_t>(me_.pid), uint32_t{0}});
        ++report_.records;
        return {};
    }

    result<void> write_records() {
        const auto bytes = std::as_bytes(std::span(records_));
        if (const int done = write_whole(kernel_files(), index_file_.get(), bytes, index_bytes_); done != 0)
            return system_failure(dropping_of(dropping_kind::index) + ": cannot write", -done);
        index_bytes_ += static_cast<int64_t>(bytes.size());
        records_.clear();
        return {};
    }

    result<void> finish() {
        struct stat mark {};
        if (const int done = container_.calls().status_at(container_.directory(), container_.access_name(), mark);
            done != 0)
            return container_.failed(container_.access_name(), "cannot look at", -done);
        const std::string closed = std::to_string(report_.size) + "." + std::to_string(report_.written_bytes) + "." +
                                   seconds(created_ns_) + "." + host_;
        const std::string version = folder_ + "/" + std::string(plfs_version_name);
        for (const std::string& each : {access(), version, meta() + "/" + closed}) {
            descriptor empty;
            if (auto made = create(each, empty); !made) return made;
        }
        // Of an empty file there is none.
        if (report_.records == 0) {
            ::unlink(dropping_of(dropping_kind::data).c_str());
            ::unlink(dropping_of(dropping_kind::index).c_str());
        }
        return hand_over(mark);
    }

    [[nodiscard]] std::string access() const { return folder_ + "/" + std::string(plfs_access_name); }

    /// Everything in it is for those for whom the file is, and on the device.
    result<void> hand_over(const struct stat& mark) const {
        std::vector<std::filesystem::path> all{folder_};
        std::error_code why;
        for (std::filesystem::recursive_directory_iterator at(folder_, why), end; !why && at != end; at.increment(why))
            all.push_back(at->path());
        if (why) return system_failure(folder_ + ": cannot list", why.value());
        for (const std::filesystem::path& each : all) {
            const bool is_directory = std::filesystem::is_directory(each, why);
            // Before its mode may forbid it.
            const descriptor file(::open(each.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
            if (!file) return system_failure(each.string() + ": cannot open", errno);
            // Only root gives files away; a file of the container's owner has that owner anyway.
            if (mark.st_uid != ::geteuid() || mark.st_gid != ::getegid())
                static_cast<void>(::fchown(file.get(), mark.st_uid, mark.st_gid) == 0);
            const mode_t of_data = mode_t{0600} | (mark.st_mode & 0666);
            const mode_t of_file = each == access() ? mark.st_mode & 07777 : of_data;
            if (::fchmod(file.get(), is_directory ? plfs_directory_mode(mark.st_mode) : of_file) != 0)
                return system_failure(each.string() + ": cannot set its mode", errno);
            if (::fsync(file.get()) != 0 && !(is_directory && errno == EINVAL))
                return system_failure(each.string() + ": cannot sync", errno);
        }
        return {};
    }

    /// The folder stays locked until it has its name.
    result<void> give_name() {
        if (::renameat2(AT_FDCWD, folder_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE) != 0) {
            const int error = errno;
            // A file system that cannot promise it (NFS, GlusterFS): at worst an empty directory goes.
            const bool cannot_promise = error == EINVAL || error == ENOSYS;
            if (auto free = cannot_promise ? expect_free_name() : result<void>(); !free) return free;
            if (!cannot_promise || ::rename(folder_.c_str(), target_.c_str()) != 0)
                return system_failure(target_ + ": cannot rename " + folder_ + " to it",
                                      cannot_promise ? errno : error);
        }
        is_folder_mine_ = false;
        const size_t slash = target_.rfind('/');
        return sync_directory(slash == std::string::npos ? "." : target_.substr(0, slash + 1));
    }

    container& container_;
    std::string target_;
    std::string folder_;
    const export_options& how_;
    writer_identity me_;
    std::string host_;
    int64_t created_ns_;
    std::string created_;
    std::string host_directory_;
    reader reader_;
    file_data data_;
    descriptor lock_;
    descriptor data_file_;
    descriptor index_file_;
    std::vector<plfs_record> records_;  // the last one may grow
    int64_t index_bytes_ = 0;
    export_report report_;
    bool is_folder_mine_ = false;  // it has the hidden name, and is locked
};

}  // namespace

result<export_report> export_plfs(container& from, const std::string& target, const export_options& how) {
    std::string plain = target;
    while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
    return exporting(from, plain, how).make();
}

}  // namespace halcyon::logfs
