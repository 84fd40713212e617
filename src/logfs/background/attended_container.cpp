#include "logfs/background/attended_container.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "logfs/container/directory/names_in.hpp"
#include "logfs/container/format/dropping_name.hpp"

namespace halcyon::logfs {
namespace {

constexpr int64_t first_pause_ns = 500'000'000;
constexpr int64_t longest_pause_ns = int64_t{30} * 1'000'000'000;

int64_t changed_ns(const struct stat& of) {
    return int64_t{of.st_mtim.tv_sec} * 1'000'000'000 + of.st_mtim.tv_nsec;
}

/// Calls `look` for each host directory ("") and each name in one that begins so.
template <class Look>
void for_all_names(container& of, std::string_view prefix, Look look) {
    file_calls& calls = of.calls();
    memory_source memory(calls);
    const auto look_at = [&](std::string_view name, const short_name& path) {
        struct stat there {};
        if (calls.status_at(of.directory(), path.c_str(), there) == 0) look(name, there);
    };
    names_in(calls, memory, of.directory(), ".", [&](std::string_view name) {
        uint32_t number = 0;
        if (!parse_host_directory(name, number)) return 0;
        const short_name directory(name);
        look_at({}, short_name(name).add("/."));
        names_in(calls, memory, of.directory(), directory.c_str(), [&](std::string_view inner) {
            if (inner.starts_with(prefix)) look_at(inner, short_name(name).add("/").add(inner));
            return 0;
        });
        return 0;
    });
}

}  // namespace

int64_t newest_change_ns(container& of) {
    int64_t newest = 0;
    const auto note = [&](const struct stat& there) { newest = std::max(newest, changed_ns(there)); };
    struct stat whole {};
    if (of.calls().status_at(of.directory(), ".", whole) == 0) note(whole);
    for_all_names(of, index_prefix, [&](std::string_view, const struct stat& there) { note(there); });
    return newest;
}

int64_t room_of_data(container& of) {
    int64_t bytes = 0;
    for_all_names(of, data_prefix, [&](std::string_view name, const struct stat& there) {
        // A file that writers of a node share has other names.
        if (!name.empty() && there.st_nlink == 1) bytes += int64_t{there.st_blocks} * 512;
    });
    return bytes;
}

void attended_container::put_off(int64_t now_ns, std::string why) {
    why_ = std::move(why);
    pause_ns_ = pause_ns_ == 0 ? first_pause_ns : std::min(2 * pause_ns_, longest_pause_ns);
    next_ns_ = now_ns + pause_ns_;
}

bool attended_container::is_quiet(int64_t change_ns, int64_t now_ns, int64_t quiet_ns) {
    if (change_ns_ != change_ns) {
        change_ns_ = change_ns;
        seen_ns_ = now_ns;
    }
    return now_ns - seen_ns_ >= quiet_ns;
}

}  // namespace halcyon::logfs
