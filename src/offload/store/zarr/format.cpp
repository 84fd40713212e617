#include "offload/store/zarr/format.hpp"

namespace halcyon::offload::zarr {
namespace {

std::string node_name(std::string_view component) {
    std::string name;
    if (component.find_first_not_of('.') == std::string_view::npos)
        name = "%2E";
    else if (component.starts_with("__"))
        name = "%5F";
    else if (component == metadata_name)
        name = "%7A";
    if (!name.empty()) component.remove_prefix(1);
    for (const char c : component) {
        name += c;
        if (c == '%') name += "25";
    }
    return name;
}

}  // namespace

std::string node_path(std::string_view variable) {
    std::string path;
    while (true) {
        const size_t slash = variable.find('/');
        path += node_name(variable.substr(0, slash));
        if (slash == std::string_view::npos) return path;
        path += '/';
        variable.remove_prefix(slash + 1);
    }
}

}  // namespace halcyon::offload::zarr
