#include "logfs/container/tools/remove.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "logfs/container/directory/container.hpp"
#include "logfs/container/directory/node_folder.hpp"
#include "logfs/container/directory/other_backends.hpp"
#include "logfs/container/tools/hidden_name.hpp"

namespace halcyon::logfs {

result<void> remove_container(const std::string& path) {
    container what;
    if (auto opened = what.open(path); !opened) return opened;
    const std::string gone = hidden_name(std::string(what.path()), "removed", what.id());
    if (std::rename(path.c_str(), gone.c_str()) != 0) return system_failure(path + ": cannot remove", errno);
    remove_other_directories(what.calls(), what.directory(), what.id());
    remove_node_index(what.calls(), wished_node_folder(), what.directory());
    std::error_code why;
    std::filesystem::remove_all(gone, why);
    if (why) return system_failure(gone + ": cannot remove", why.value());
    return {};
}

}  // namespace halcyon::logfs
