#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "logfs/mount/state/failure_log.hpp"
#include "logfs/mount/state/file_key.hpp"
#include "logfs/mount/state/shared_file.hpp"

namespace halcyon::logfs {

/// The containers that one mount has open. What nobody uses is closed at once where it was written, so that others know
/// that it is; what was only read or looked at stays open for a while: a program looks at a file, then opens it.
///
/// Threads may share it.
class open_containers {
  public:
    /// Keeps a file open.
    class use {
      public:
        use() = default;
        use(use&& other) noexcept : of_(std::exchange(other.of_, nullptr)), file_(std::move(other.file_)) {}
        use& operator=(use&& other) noexcept {
            std::swap(of_, other.of_);
            std::swap(file_, other.file_);
            return *this;
        }
        use(const use&) = delete;
        use& operator=(const use&) = delete;
        ~use() {
            if (of_ != nullptr) of_->leave(std::move(file_));
        }
        explicit operator bool() const { return of_ != nullptr; }
        shared_file* operator->() const { return file_.get(); }
        shared_file& operator*() const { return *file_; }

      private:
        friend class open_containers;
        use(open_containers& of, std::shared_ptr<shared_file> file) : of_(&of), file_(std::move(file)) {}

        open_containers* of_ = nullptr;
        std::shared_ptr<shared_file> file_;
    };

    /// `how`: each is opened so; `most_idle`: that stay open though nobody uses them.
    open_containers(failure_log& log, const opening& how, size_t most_idle)
        : log_(log), how_(how), most_idle_(most_idle) {}
    open_containers(const open_containers&) = delete;
    open_containers& operator=(const open_containers&) = delete;
    ~open_containers() { close_all(); }

    /// Who writes, of the process that serves the mount.
    void write_as(const writer_identity& who) { who_ = who; }

    /// The container in the directory that a descriptor stands for. `path`: for messages.
    result<use> take(const file_key& key, int directory, std::string path);
    /// A new container by its name in a folder. Failure (system): EEXIST.
    result<use> create(int folder, const char* name, mode_t mode, std::string path);

    /// A container that has lost its name is to be removed when nobody uses it. False: nobody does.
    bool remove_later(const file_key& key, const discarded& what);

    /// Closes what nobody uses; false: there was nothing.
    bool drop_idle();
    /// Closes all of them; what fails is said in the log.
    void close_all();

  private:
    using shared = std::shared_ptr<shared_file>;

    void leave(shared file);
    void forget(const shared& file);
    void end_idleness(shared_file& of);
    void finish(const shared& file);

    failure_log& log_;
    const opening how_;
    const size_t most_idle_;
    writer_identity who_;
    std::mutex lock_;
    std::unordered_map<file_key, shared, hash_of_key> files_;
    std::list<shared> idle_;  // the one left last in front
};

}  // namespace halcyon::logfs
