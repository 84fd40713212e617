#include "logfs/container/tools/remove.hpp"

#include <fcntl.h>

#include "logfs/container/directory/node_folder.hpp"
#include "logfs/container/directory/other_backends.hpp"
#include "logfs/container/directory/remove_tree.hpp"
#include "logfs/container/tools/hidden_name.hpp"
#include "logfs/container/tools/same_file.hpp"

namespace halcyon::logfs {

result<void> expect_own_name(const container& of) {
    struct stat named {};
    struct stat opened {};
    int done = of.calls().status(of.directory(), opened);
    if (done == 0) done = of.calls().status_at(AT_FDCWD, std::string(of.path()).c_str(), named);
    if (done != 0) return of.failed({}, "cannot look at", -done);
    if (is_same_file(named, opened)) return {};
    return failure{error_kind::usage, std::string(of.path()) + ": a link to a log container; give the container's name",
                   0};
}

result<void> remove_container(const std::string& path, file_calls& calls) {
    container what(calls);
    if (auto opened = what.open(path); !opened) return opened;
    if (auto own = expect_own_name(what); !own) return own;
    const std::string name(what.path());
    const std::string gone = hidden_name(name, "removed", what.id());
    if (const int done = calls.rename_at(AT_FDCWD, name.c_str(), AT_FDCWD, gone.c_str(), 0); done != 0)
        return what.failed({}, "cannot remove", -done);
    remove_other_directories(calls, what.directory(), what.id());
    remove_node_index(calls, wished_node_folder(), what.directory());
    if (const int done = remove_tree(calls, AT_FDCWD, gone.c_str(), levels_of_container); done != 0)
        return system_failure(gone + ": cannot remove", -done);
    return {};
}

}  // namespace halcyon::logfs
