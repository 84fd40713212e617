#include "calls/state/program_file.hpp"

#include <elf.h>
#include <stdlib.h>
#include <unistd.h>

#include "calls/record/recorded_note.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/given_memory.hpp"

namespace halcyon::calls {
namespace {

using kind = program_file::kind;

bool may_be_run(const char* path) {
    struct stat found {};
    return direct::call(SYS_newfstatat, AT_FDCWD, direct::address(path), direct::address(&found), 0) == 0 &&
           S_ISREG(found.st_mode) && direct::call(SYS_faccessat, AT_FDCWD, direct::address(path), X_OK) == 0;
}

bool has_capabilities(int fd) {
    char value[64] = {};
    return direct::call(SYS_fgetxattr, fd, direct::address("security.capability"), direct::address(value),
                        sizeof value) > 0;
}

// setuid, setgid and capabilities matter only where they change something (AT_SECURE).
bool changes_identity(int fd, const struct stat& file) {
    const auto user = static_cast<uid_t>(direct::call(SYS_getuid));
    const auto group = static_cast<gid_t>(direct::call(SYS_getgid));
    const auto becomes = (file.st_mode & S_ISUID) != 0 ? file.st_uid : static_cast<uid_t>(direct::call(SYS_geteuid));
    const auto joins = (file.st_mode & S_ISGID) != 0 ? file.st_gid : static_cast<gid_t>(direct::call(SYS_getegid));
    return becomes != user || joins != group || (user != 0 && has_capabilities(fd));
}

#if defined(__x86_64__)
constexpr uint16_t own_machine = EM_X86_64;
#else
constexpr uint16_t own_machine = EM_AARCH64;
#endif

// e_machine has the same place in headers of both classes.
bool is_of_own_architecture(const char* begin) {
    uint16_t machine = 0;
    std::memcpy(&machine, begin + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
    return begin[EI_CLASS] == ELFCLASS64 && machine == own_machine;
}

/// Whether a segment of notes holds the one of programs that record themselves.
bool file_holds_own_note(int fd, const Elf64_Phdr& segment) {
    return holds_own_note(segment.p_filesz, segment.p_align, [&](uint64_t at, recorded_note& note) {
        return direct::call(SYS_pread64, fd, direct::address(&note), sizeof note,
                            static_cast<long>(segment.p_offset + at)) == static_cast<long>(sizeof note);
    });
}

kind linking_of(int fd, const char* begin) {
    Elf64_Ehdr header;
    std::memcpy(&header, begin, sizeof header);
    kind found = kind::static_;
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment{};
        const auto at = static_cast<long>(header.e_phoff + size_t{i} * header.e_phentsize);
        const long got = direct::call(SYS_pread64, fd, direct::address(&segment), sizeof segment, at);
        if (got != static_cast<long>(sizeof segment)) return kind::unknown;
        if (segment.p_type == PT_INTERP) return kind::recorded;
        if (segment.p_type == PT_NOTE && file_holds_own_note(fd, segment)) found = kind::recorded;
    }
    return found;
}

/// Of the file's first bytes; `interpreter` gets that of a script, or "".
kind kind_of(const char* path, char (&interpreter)[256]) {
    interpreter[0] = '\0';
    const int fd = direct::open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return kind::unknown;
    struct stat file {};
    char begin[256] = {};
    const ssize_t got = direct::read(fd, begin, sizeof begin - 1);
    kind found = kind::unknown;
    if (direct::call(SYS_fstat, fd, direct::address(&file)) == 0 && changes_identity(fd, file))
        found = kind::privileged;
    else if (got >= static_cast<ssize_t>(sizeof(Elf32_Ehdr)) && std::memcmp(begin, ELFMAG, SELFMAG) == 0) {
        found = is_of_own_architecture(begin) ? linking_of(fd, begin) : kind::foreign;
    } else if (begin[0] == '#' && begin[1] == '!') {
        const char* word = begin + 2 + std::strspn(begin + 2, " \t");
        const size_t length = std::strcspn(word, " \t\n");
        std::memcpy(interpreter, word, length);
        interpreter[length] = '\0';
    }
    direct::close(fd);
    return found;
}

}  // namespace

void program_file::look(const char* name, bool searches) {
    what = kind::absent;
    path[0] = '\0';
    const size_t length = given::length_of_text(name, sizeof path);
    if (length == 0 || length == given::unreadable) return;
    if (length == sizeof path) {
        what = kind::unknown;
        return;
    }
    if (!searches || std::strchr(name, '/') != nullptr) {
        std::memcpy(path, name, length + 1);
        if (!may_be_run(path)) return;
    } else {
        const char* places = getenv("PATH");
        if (places == nullptr) places = "/bin:/usr/bin";
        for (;; ++places) {
            const size_t place = std::strcspn(places, ":");
            if (place + length + 2 < sizeof path) {
                std::memcpy(path, places, place);
                path[place] = '/';
                std::memcpy(path + place + (place > 0 ? 1 : 0), name, length + 1);
                if (may_be_run(path)) break;
            }
            places += place;
            if (*places == '\0') return;
        }
    }
    char interpreter[256];
    what = kind_of(path, interpreter);
    char next[256];
    for (int depth = 0; interpreter[0] != '\0' && depth < 4; ++depth) {
        std::memcpy(next, interpreter, sizeof next);
        what = kind_of(next, interpreter);
    }
}

}  // namespace halcyon::calls
