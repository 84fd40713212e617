#include "logfs/container/tools/rename.hpp"

#include <fcntl.h>
#include <stdio.h>

#include <cerrno>
#include <utility>

#include "logfs/container/directory/container.hpp"
#include "logfs/container/directory/marking.hpp"
#include "logfs/container/tools/remove.hpp"
#include "logfs/container/tools/same_file.hpp"

namespace halcyon::logfs {
namespace {

class renaming {
  public:
    renaming(file_calls& calls, std::string from, std::string to)
        : calls_(calls), from_(std::move(from)), to_(std::move(to)) {}

    result<void> make(const struct stat& moved) {
        constexpr int most_tries = 16;
        for (int tries = 0; tries < most_tries; ++tries) {
            struct stat there {};
            int done = calls_.status_at(AT_FDCWD, to_.c_str(), there);
            if (done == -ENOENT) {
                done = take_free_name();
                if (done == -EEXIST) continue;  // somebody was quicker
                return done == 0 ? result<void>() : failed(done);
            }
            if (done != 0) return failed(done);
            if (is_same_file(moved, there)) return {};
            const bool is_directory = S_ISDIR(there.st_mode);
            if (is_directory && marking_of(calls_, AT_FDCWD, to_) == marking::none) return failed(-EISDIR);
            return replace(is_directory);
        }
        return failed(-EEXIST);
    }

  private:
    int take_free_name() {
        const int done = calls_.rename_at(AT_FDCWD, from_.c_str(), AT_FDCWD, to_.c_str(), RENAME_NOREPLACE);
        // A file system that cannot promise it; a directory replaces an empty one only.
        return done == -EINVAL || done == -ENOSYS ? plain_rename() : done;
    }

    int plain_rename() { return calls_.rename_at(AT_FDCWD, from_.c_str(), AT_FDCWD, to_.c_str(), 0); }

    result<void> replace(bool is_container) {
        const int done = calls_.rename_at(AT_FDCWD, from_.c_str(), AT_FDCWD, to_.c_str(), RENAME_EXCHANGE);
        if (done == 0) return remove(from_, is_container);
        if (done != -EINVAL && done != -ENOSYS) return failed(done);
        // For a moment, nothing has the name.
        if (auto removed = remove(to_, is_container); !removed) return removed;
        const int renamed = plain_rename();
        return renamed == 0 ? result<void>() : failed(renamed);
    }

    result<void> remove(const std::string& replaced, bool is_container) {
        if (is_container) return remove_container(replaced, calls_);
        const int done = calls_.remove_at(AT_FDCWD, replaced.c_str(), false);
        return done == 0 ? result<void>() : system_failure(replaced + ": cannot remove what is replaced", -done);
    }

    [[nodiscard]] failure failed(int error) const {
        return system_failure(to_ + ": cannot rename " + from_ + " to it", -error);
    }

    file_calls& calls_;
    std::string from_;
    std::string to_;
};

}  // namespace

result<void> rename_container(const std::string& from, const std::string& to, file_calls& calls) {
    container what(calls);
    if (auto opened = what.open(from); !opened) return opened;
    if (auto own = expect_own_name(what); !own) return own;
    struct stat moved {};
    if (const int done = calls.status(what.directory(), moved); done != 0)
        return what.failed({}, "cannot look at", -done);
    std::string target = to;
    while (target.size() > 1 && target.ends_with('/')) target.pop_back();
    return renaming(calls, std::string(what.path()), std::move(target)).make(moved);
}

}  // namespace halcyon::logfs
