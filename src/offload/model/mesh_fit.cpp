#include "offload/model/mesh_fit.hpp"

namespace halcyon::offload {
namespace {

std::string text_of(std::span<const int64_t> shape, int64_t less) {
    std::string text;
    for (const int64_t n : shape) text += (text.empty() ? "" : " x ") + std::to_string(n - less);
    return text;
}

}  // namespace

mesh_fit fit_of(std::span<const int64_t> shape, std::span<const int64_t> nodes) {
    if (shape.size() != nodes.size()) return mesh_fit::none;
    bool on_nodes = true, on_cells = true;
    for (size_t i = 0; i < shape.size(); ++i) {
        on_nodes = on_nodes && shape[i] == nodes[i];
        on_cells = on_cells && shape[i] == nodes[i] - 1;
    }
    return on_nodes ? mesh_fit::nodes : on_cells ? mesh_fit::cells : mesh_fit::none;
}

std::string describe_misfit(const std::string& variable, std::span<const int64_t> shape, const std::string& mesh,
                            std::span<const int64_t> nodes) {
    return "variable '" + variable + "' has the shape " + text_of(shape, 0) + ", but mesh '" + mesh + "' has " +
           text_of(nodes, 0) + " nodes and " + text_of(nodes, 1) +
           " cells: programs that draw meshes will not find the variable; give it a mesh of its own shape";
}

std::string describe_scattered(const std::string& variable, const std::string& mesh) {
    return "variable '" + variable + "' is on mesh '" + mesh +
           "', but has no place, so its blocks are not one array: programs that draw meshes will not find the "
           "variable; give it a place";
}

std::string describe_lost_coordinate(const std::string& variable, const std::string& mesh,
                                     const std::string& coordinate) {
    return "variable '" + variable + "' is on mesh '" + mesh + "', whose coordinate '" + coordinate +
           "' is not stored beside it: programs that draw meshes will not find the variable; store the coordinate in " +
           "the same store";
}

}  // namespace halcyon::offload
