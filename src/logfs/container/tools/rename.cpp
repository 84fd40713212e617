#include "logfs/container/tools/rename.hpp"

#include <fcntl.h>
#include <stdio.h>

#include <cerrno>
#include <utility>

#include "logfs/container/directory/container.hpp"
#include "logfs/container/directory/marking.hpp"
#include "logfs/container/directory/replacement.hpp"
#include "logfs/container/tools/remove.hpp"
#include "logfs/container/tools/same_file.hpp"

namespace halcyon::logfs {
namespace {

class renaming {
  public:
    renaming(file_calls& calls, std::string from, std::string to)
        : calls_(calls), from_(std::move(from)), to_(std::move(to)) {}

    result<void> make() {
        struct stat moved {};
        if (const int done = calls_.status_at(AT_FDCWD, from_.c_str(), moved); done != 0) return failed(done);
        const bool is_container = is_one(from_, moved);
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
            const bool replaces_container = is_one(to_, there);
            if (!is_container && !replaces_container) {
                done = plain_rename();
                return done == 0 ? result<void>() : failed(done);
            }
            if (!replaces_container && S_ISDIR(there.st_mode)) return failed(-EISDIR);
            if (!is_container && S_ISDIR(moved.st_mode)) return failed(-ENOTDIR);
            return replace(replaces_container);
        }
        return failed(-EEXIST);
    }

  private:
    bool is_one(const std::string& name, const struct stat& found) {
        return S_ISDIR(found.st_mode) && marking_of(calls_, AT_FDCWD, name) != marking::none;
    }

    int take_free_name() {
        const int done = calls_.rename_at(AT_FDCWD, from_.c_str(), AT_FDCWD, to_.c_str(), RENAME_NOREPLACE);
        // A file system that cannot promise it; a directory replaces an empty one only.
        return done == -EINVAL || done == -ENOSYS ? plain_rename() : done;
    }

    int plain_rename() { return calls_.rename_at(AT_FDCWD, from_.c_str(), AT_FDCWD, to_.c_str(), 0); }

    result<void> replace(bool is_container) {
        replacement names(calls_, {AT_FDCWD, from_.c_str()}, {AT_FDCWD, to_.c_str()});
        if (const int done = names.make(); done != 0) return failed(done);
        auto removed = remove(names.replaced().name, is_container);
        if (!removed) names.undo();
        return removed;
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

std::string without_slashes(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
}

}  // namespace

result<void> rename_container(const std::string& from, const std::string& to, file_calls& calls) {
    container what(calls);
    if (auto opened = what.open(from); !opened) return opened;
    if (auto own = expect_own_name(what); !own) return own;
    return renaming(calls, std::string(what.path()), without_slashes(to)).make();
}

result<void> rename_any(const std::string& from, const std::string& to, file_calls& calls) {
    return renaming(calls, without_slashes(from), without_slashes(to)).make();
}

}  // namespace halcyon::logfs
