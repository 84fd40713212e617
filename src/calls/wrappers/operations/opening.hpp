#pragma once

#include <dirent.h>
#include <sys/stat.h>

#include <cstring>

#include "calls/backends/awaited_opening.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/wrappers/operations/operation.hpp"
#include "calls/wrappers/posix/directory_streams.hpp"

/// As operation.hpp: what opens files and directories, and lists these.
namespace halcyon::calls::operations {

// --- opening ---

/// A file that is open by now gets its descriptor.
inline int64_t open_at(file_backend& of, const char* path, int flags, unsigned mode) {
    file_backend::handle opened = 0;
    const int failed = of.open(path, flags, mode, opened);
    if (failed != 0) return failed;
    const int fd = backends::opened_as(of, opened, flags);
    if (fd >= 0) backends::awaited_opening::note(of, path, flags, opened);
    return fd;
}

struct opens {
    static int64_t at(file_backend& of, const char* path, int flags, unsigned mode = 0) {
        return open_at(of, path, flags, mode);
    }
};
/// A path, or a name of a descriptor.
template <class Answer>
struct path_to_open : path<Answer> {
    template <class... Rest>
    bool claims(const char* name, const Rest&...) {
        return this->file.find(AT_FDCWD, name) || this->file.find_descriptor(name);
    }
};
template <class Answer>
struct path_to_open_from : path_from<Answer> {
    template <class... Rest>
    bool claims(int directory, const char* name, const Rest&... rest) {
        return path_from<Answer>::claims(directory, name, rest...) || this->file.find_descriptor(name);
    }
};
using open_path = path_to_open<opens>;
using open_path_from = path_to_open_from<opens>;

struct creates {
    static int64_t at(file_backend& of, const char* path, unsigned mode) {
        return open_at(of, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
    }
};
using create_path = path_to_open<creates>;

/// openat2: `how` begins with flags and mode, and may ask for ways of resolving that are none here.
struct opens_how {
    static int64_t at(file_backend& of, const char* path, const void* how, size_t bytes) {
        struct {
            uint64_t flags, mode, resolve;
        } asked{};
        if (bytes < sizeof asked) return -EINVAL;
        if (!given::read(how, asked)) return -EFAULT;
        return open_at(of, path, static_cast<int>(asked.flags), static_cast<unsigned>(asked.mode));
    }
};
using open_path_how = path_from<opens_how>;

/// mkstemp and its like: the six X before the suffix are filled in, until there is no such file.
struct open_temporary {
    mounted_path file;
    template <class... Rest>
    bool claims(const char* name, const Rest&...) {
        return file.find(AT_FDCWD, name);
    }
    static int64_t perform(char* name, int flags = 0) { return fill_in(name, 0, flags); }
    template <class Make>
    static int64_t each_name(char* name, int suffix, Make make) {
        const size_t length = std::strlen(name);
        if (suffix < 0 || length < 6 + static_cast<size_t>(suffix)) return -EINVAL;
        char* const at = name + length - static_cast<size_t>(suffix) - 6;
        if (std::memcmp(at, "XXXXXX", 6) != 0) return -EINVAL;
        for (int tries = 0; tries < 1000; ++tries) {
            uint64_t random = 0;
            direct::call(SYS_getrandom, direct::address(&random), sizeof random, 0);
            for (int i = 0; i < 6; ++i, random /= 36) at[i] = "abcdefghijklmnopqrstuvwxyz0123456789"[random % 36];
            mounted_path filled;
            const int64_t made = filled.find(AT_FDCWD, name) ? make(filled) : -EEXIST;  // the kernel's has the name
            if (made != -EEXIST) return made;
        }
        return -EEXIST;
    }

  protected:
    static int64_t fill_in(char* name, int suffix, int flags) {
        return each_name(name, suffix, [&](mounted_path& filled) {
            return open_at(filled.backend(), filled.path(), O_CREAT | O_RDWR | O_EXCL | (flags & ~O_ACCMODE), 0600);
        });
    }
};
struct open_temporary_suffix : open_temporary {
    static int64_t perform(char* name, int suffix, int flags = 0) { return fill_in(name, suffix, flags); }
};
struct make_temporary_directory : open_temporary {
    static char* perform(char* name) {
        const int64_t made = each_name(name, 0, [](mounted_path& filled) {
            return int64_t{filled.backend().make_directory(filled.path(), 0700)};
        });
        if (made == 0) return name;
        errno = static_cast<int>(-made);
        return nullptr;
    }
};

// --- directories ---

struct opens_directory {
    static DIR* at(file_backend& of, const char* path) {
        const int64_t fd = open_at(of, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
        if (fd < 0) {
            errno = static_cast<int>(-fd);
            return nullptr;
        }
        return directory_streams::open(static_cast<int>(fd));
    }
    static DIR* of(const owned_file& file, int fd) {
        struct stat found {};
        const int failed = file.backend().stat(file.opened(), found);
        if (failed == 0 && S_ISDIR(found.st_mode)) return directory_streams::open(fd);
        errno = failed == 0 ? ENOTDIR : -failed;
        return nullptr;
    }
};
using open_directory = path<opens_directory>;
using open_directory_of = descriptor<opens_directory>;

struct read_directory {
    static bool claims(DIR* directory) { return directory_streams::is_ours(directory); }
    static dirent* perform(DIR* directory) { return directory_streams::next(directory); }
};
struct read_directory_64 : read_directory {
    static dirent64* perform(DIR* directory) {
        static_assert(sizeof(dirent) == sizeof(dirent64));
        return reinterpret_cast<dirent64*>(directory_streams::next(directory));
    }
};
struct read_directory_into {
    static bool claims(DIR* directory, const void*, const void*) { return directory_streams::is_ours(directory); }
    template <class Entry>
    static int perform(DIR* directory, Entry* entry, Entry** out) {
        errno = 0;
        const dirent* const found = directory_streams::next(directory);
        *out = found == nullptr ? nullptr : entry;
        if (found != nullptr) std::memcpy(entry, found, sizeof *entry);
        return found == nullptr ? errno : 0;
    }
};
struct rewind_directory {
    static bool claims(DIR* directory) { return directory_streams::is_ours(directory); }
    static void perform(DIR* directory) { directory_streams::rewind(directory); }
};
struct close_directory {
    static bool claims(DIR* directory) { return directory_streams::is_ours(directory); }
    static int64_t perform(DIR* directory) { return directory_streams::close(directory); }
};
using read_raw_directory = descriptor<refuses<EOPNOTSUPP>>;

}  // namespace halcyon::calls::operations
