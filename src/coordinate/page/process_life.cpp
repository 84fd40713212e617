#include "coordinate/page/process_life.hpp"

#include <cerrno>
#include <string_view>

#include "calls/state/direct_call.hpp"

namespace halcyon::coordinate {
namespace direct = calls::direct;

namespace {

/// "/proc/<pid>" and the rest
struct path_of_process {
    char text[32] = "/proc/";
    path_of_process(int pid, std::string_view rest_of_path) {
        char digits[12];
        int count = 0;
        for (int rest = pid; rest > 0 || count == 0; rest /= 10) digits[count++] = static_cast<char>('0' + rest % 10);
        char* end = text + 6;
        while (count > 0) *end++ = digits[--count];
        for (const char c : rest_of_path) *end++ = c;
        *end = '\0';
    }
};

/// As far as it fits; "": it cannot be read.
std::string_view read_whole(const path_of_process& path, char (&text)[1024]) {
    const int fd = direct::open(path.text, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return {};
    const ssize_t bytes = direct::read(fd, text, sizeof text);
    direct::close(fd);
    return {text, bytes < 0 ? 0 : static_cast<size_t>(bytes)};
}

uint64_t number_at(std::string_view text) {
    uint64_t number = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') break;
        number = number * 10 + static_cast<uint64_t>(c - '0');
    }
    return number;
}

/// The inode; 0: there is no such file, or it cannot be asked.
uint64_t number_of_file(const char* path) {
    struct stat about {};
    return direct::call(SYS_newfstatat, AT_FDCWD, direct::address(path), direct::address(&about), 0) == 0
               ? static_cast<uint64_t>(about.st_ino)
               : 0;
}

}  // namespace

process_life life_of_process(int pid) {
    constexpr int field_of_state = 3, field_of_threads = 20, field_of_start = 22, field_of_code = 26,
                  field_of_stack = 28;
    char text[1024];
    std::string_view rest = read_whole(path_of_process(pid, "/stat"), text);
    const size_t name_ends = rest.rfind(") ");  // "12 (name) S 1 …": the name may hold anything
    process_life found;
    if (name_ends == std::string_view::npos) {
        found.is_dead = pid <= 0 || direct::call(SYS_kill, pid, 0) == -ESRCH;
        return found;
    }
    rest.remove_prefix(name_ends + 2);
    bool& ended = found.is_dead;
    uint64_t code = 0;
    for (int field = field_of_state; !rest.empty(); ++field) {
        if (field == field_of_state) ended = rest[0] == 'Z' || rest[0] == 'X';
        // A first thread that has ended is shown like that although others go on.
        if (field == field_of_threads && number_at(rest) > 1) ended = false;
        if (field == field_of_start && !ended) found.start = number_at(rest);
        if (field == field_of_code) code = number_at(rest);
        if (field == field_of_stack) {
            const uint64_t stack = number_at(rest);
            found.program = stack == 0 ? 0 : stack ^ (code << 16U);
            break;
        }
        const size_t space = rest.find(' ');
        if (space == std::string_view::npos) break;
        rest.remove_prefix(space + 1);
    }
    return found;
}

uint64_t own_pid_namespace() {
    return number_of_file("/proc/self/ns/pid");
}

uint64_t own_time_namespace() {
    return number_of_file("/proc/self/ns/time");
}

bool proc_numbers_processes_as_here() {
    char target[24] = {};
    const char* const path = "/proc/self";
    const long bytes =
        direct::call(SYS_readlinkat, AT_FDCWD, direct::address(path), direct::address(target), sizeof target - 1);
    return bytes > 0 && number_at(target) == static_cast<uint64_t>(direct::process_id());
}

int64_t bytes_of_process(int pid) {
    char text[1024];
    const std::string_view all = read_whole(path_of_process(pid, "/io"), text);
    int64_t sum = 0;
    for (const std::string_view name : {std::string_view("rchar: "), std::string_view("wchar: ")}) {
        const size_t at = all.find(name);
        if (at == std::string_view::npos) return -1;
        sum += static_cast<int64_t>(number_at(all.substr(at + name.size())));
    }
    return sum;
}

}  // namespace halcyon::coordinate
