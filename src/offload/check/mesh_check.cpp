#include "offload/check/mesh_check.hpp"

#include <optional>

#include "offload/model/mesh_fit.hpp"

namespace halcyon::offload {
namespace {

/// The array that the view makes of a variable without a time; nullopt when it changes, or is not one array. `copies`:
/// every rank may hold the whole of it, as of the coordinates of a rectilinear mesh.
result<std::optional<extents>> array_of(const model& m, const variable& v, int ranks, bool copies) {
    const bool single = ranks == 1 && v.blocks_per_client == 1;
    if (!keeps_place(m, v) || !(v.place_id || single || copies)) return std::optional<extents>{};
    const auto shape = shape_of(m, v, {0, ranks, 0});
    if (!shape) return shape.why();
    return std::optional<extents>(v.place_id ? shape->global : shape->interior());
}

result<std::optional<extents>> nodes_of(const model& m, const mesh& on, int ranks) {
    if (on.type != mesh_type::rectilinear && on.type != mesh_type::curvilinear) return std::optional<extents>{};
    extents nodes;
    for (const std::string& name : on.coordinates) {
        const bool line = on.type == mesh_type::rectilinear;
        const auto array = array_of(m, *m.find_variable(name), ranks, line);
        if (!array) return array.why();
        if (!*array || (line && (*array)->rank != 1)) return std::optional<extents>{};
        if (!line) return *array;
        nodes.push_back((**array)[0]);
    }
    return std::optional<extents>(nodes);
}

/// Why a stored variable will not be drawn on its mesh, whatever their shapes are; "" when only these matter.
std::string undrawn_in_any_shape(const model& m, const variable& v, const mesh& on, int ranks) {
    if (v.store.empty() || (on.type != mesh_type::rectilinear && on.type != mesh_type::curvilinear)) return "";
    for (const std::string& name : on.coordinates)
        if (m.find_variable(name)->store != v.store) return describe_lost_coordinate(v.name, on.name, name);
    const bool one_array = v.place_id || (ranks == 1 && v.blocks_per_client == 1);
    return one_array ? "" : describe_scattered(v.name, on.name);
}

}  // namespace

result<std::vector<std::string>> undrawn_on_meshes(const model& m, int ranks) {
    std::vector<std::string> messages;
    for (const variable& v : m.variables) {
        if (!v.mesh_id) continue;
        const mesh& on = m.meshes[*v.mesh_id];
        if (const std::string why = undrawn_in_any_shape(m, v, on, ranks); !why.empty()) {
            messages.push_back(v.mesh_where + ": " + why);
            continue;
        }
        const auto array = array_of(m, v, ranks, false);
        if (!array) return array.why();
        const auto nodes = nodes_of(m, on, ranks);
        if (!nodes) return nodes.why();
        if (!*array || !*nodes || fit_of((*array)->span(), (*nodes)->span()) != mesh_fit::none) continue;
        messages.push_back(v.mesh_where + ": " + describe_misfit(v.name, (*array)->span(), on.name, (*nodes)->span()));
    }
    return messages;
}

bool draws_nothing(const model& m, int ranks) {
    bool could = false;
    for (const variable& v : m.variables) {
        const size_t dimensions = m.layouts[v.layout_id].dimensions.size();
        if (v.store.empty() || (dimensions != 2 && dimensions != 3)) continue;
        if (v.place_id || (v.mesh_id && ranks == 1 && v.blocks_per_client == 1)) return false;
        could = true;
    }
    return could;
}

}  // namespace halcyon::offload
