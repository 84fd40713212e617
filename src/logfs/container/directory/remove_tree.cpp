#include "logfs/container/directory/remove_tree.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "logfs/container/directory/names_in.hpp"
#include "logfs/container/files/memory_source.hpp"

namespace halcyon::logfs {

int remove_tree(file_calls& calls, int directory, const char* name, int levels) {
    int done = calls.remove_at(directory, name, false);
    if (done == -ENOENT) return 0;
    if (done != -EISDIR && done != -EPERM) return done;
    if (levels == 0) return -ELOOP;
    // What is removed while it is listed may keep others from being listed.
    constexpr int most_rounds = 8;
    int first_failure = 0;
    for (int round = 0; round < most_rounds; ++round) {
        const int opened = calls.open_at(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
        // A file that nobody may remove, or what others have removed meanwhile.
        if (opened < 0) return opened == -ENOENT ? 0 : opened == -ENOTDIR ? done : opened;
        memory_source memory(calls);
        names_in(calls, memory, opened, ".", [&](std::string_view found) {
            char each[256];
            if (found.size() >= sizeof each) return 0;
            std::memcpy(each, found.data(), found.size());
            each[found.size()] = '\0';
            const int one = remove_tree(calls, opened, each, levels - 1);
            if (one != 0 && first_failure == 0) first_failure = one;
            return 0;
        });
        calls.close(opened);
        done = calls.remove_at(directory, name, true);
        if (done == 0 || done == -ENOENT) return 0;
        if (done != -ENOTEMPTY && done != -EEXIST) return done;
        if (first_failure != 0) return first_failure;
    }
    return done;
}

}  // namespace halcyon::logfs
