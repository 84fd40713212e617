#include "offload/store/hdf5/xdmf.hpp"

#include <algorithm>
#include <sstream>

#include "offload/model/mesh_fit.hpp"

namespace halcyon::offload::hdf5 {
namespace {

using shape_list = std::vector<int64_t>;

std::string xml(const std::string& text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string joined(const shape_list& list) {
    std::string out;
    for (const int64_t v : list) out += (out.empty() ? "" : " ") + std::to_string(v);
    return out;
}

/// XDMF's readers know integers of one and two bytes by names of their own, and no unsigned ones of eight.
std::string number_format(scalar_type type) {
    static constexpr const char* names[] = {"Char",   "Short", "Int", "Int",   "UChar",
                                            "UShort", "UInt",  "Int", "Float", "Float"};
    return std::string("NumberType=\"") + names[static_cast<size_t>(type)] + "\" Precision=\"" +
           std::to_string(size_of(type)) + "\"";
}

shape_list drawn_shape(const view_variable& v) {
    return {v.shape.begin() + (v.description.time_varying ? 1 : 0), v.shape.end()};
}

/// A grid that time steps repeat: its geometry and the variables on it.
struct grid {
    std::string name;
    const stored_mesh* mesh = nullptr;                             ///< null: unit cells
    shape_list nodes;                                              ///< nodes per dimension, slowest first
    std::vector<const dimension*> lines;                           ///< rectilinear: slowest first
    std::vector<const view_variable*> points;                      ///< curvilinear: slowest first
    std::vector<std::pair<const view_variable*, bool>> variables;  ///< and whether on nodes
};

class xdmf_writer {
  public:
    xdmf_writer(const view_plan& plan, std::string simulation, std::string view_name)
        : plan_(plan), simulation_(std::move(simulation)), view_(std::move(view_name)) {
        for (const auto& [name, mesh] : plan_.meshes) add_mesh(mesh);
        for (const view_variable& v : plan_.variables) place(v);
        std::erase_if(grids_, [](const grid& g) { return g.variables.empty(); });
    }

    std::string text() {
        if (grids_.empty()) return "";
        out_ << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Xdmf Version=\"3.0\">\n<Domain>\n<Grid Name=\""
             << xml(simulation_) << "\" GridType=\"Collection\" CollectionType=\"Temporal\">\n";
        for (size_t time = 0; time < plan_.iterations.size(); ++time) write_step(time);
        out_ << "</Grid>\n</Domain>\n</Xdmf>\n";
        return out_.str();
    }

  private:
    const view_variable* find(const std::string& name) const {
        const auto at = std::find_if(plan_.variables.begin(), plan_.variables.end(),
                                     [&name](const view_variable& v) { return v.description.name == name; });
        return at == plan_.variables.end() ? nullptr : &*at;
    }

    void add_mesh(const stored_mesh& mesh) {
        grid g;
        g.name = mesh.name;
        g.mesh = &mesh;
        if (mesh.coordinates.size() < 2 || mesh.coordinates.size() > 3) return;
        for (const std::string& name : mesh.coordinates) {
            if (mesh.type == "rectilinear") {
                const auto at = plan_.coordinate_dimensions.find(name);
                if (at == plan_.coordinate_dimensions.end()) return;
                g.lines.push_back(&plan_.dimensions[at->second]);
                g.nodes.push_back(g.lines.back()->size);
            } else if (mesh.type == "curvilinear") {
                const view_variable* points = find(name);
                if (points == nullptr || drawn_shape(*points).size() != mesh.coordinates.size()) return;
                g.points.push_back(points);
                g.nodes = drawn_shape(*points);
            } else {
                return;
            }
        }
        grids_.push_back(std::move(g));
    }

    void place(const view_variable& v) {
        const shape_list shape = drawn_shape(v);
        if (!v.placed_whole || (shape.size() != 2 && shape.size() != 3)) return;
        if (v.path.find_first_of(":|") != std::string::npos) return;  // what separates file, array and selection
        for (grid& g : grids_) {
            if (g.mesh == nullptr || g.mesh->name != v.description.mesh) continue;
            // One that does not fit is named among the plan's mesh remarks.
            const mesh_fit fit = fit_of(shape, g.nodes);
            if (fit != mesh_fit::none) g.variables.emplace_back(&v, fit == mesh_fit::nodes);
            return;
        }
        if (!v.description.mesh.empty() || !v.description.placed) return;
        const bool on_nodes = v.description.centered == centering::node;
        shape_list nodes = shape;
        if (!on_nodes) {
            for (int64_t& n : nodes) ++n;
        }
        auto at = std::find_if(grids_.begin(), grids_.end(),
                               [&nodes](const grid& g) { return g.mesh == nullptr && g.nodes == nodes; });
        if (at == grids_.end()) {
            grid g;
            g.name = "cells of unit size, " + joined(nodes) + " nodes";
            g.nodes = nodes;
            at = grids_.insert(grids_.end(), std::move(g));
        }
        at->variables.emplace_back(&v, on_nodes);
    }

    void write_step(size_t time) {
        const std::string stamp = "<Time Value=\"" + std::to_string(plan_.iterations[time]) + "\"/>\n";
        if (grids_.size() == 1) return write_grid(grids_[0], time, stamp);
        out_ << "<Grid Name=\"step\" GridType=\"Collection\" CollectionType=\"Spatial\">\n" << stamp;
        for (const grid& g : grids_) write_grid(g, time, "");
        out_ << "</Grid>\n";
    }

    void write_grid(const grid& g, size_t time, const std::string& stamp) {
        const std::string order = std::to_string(g.nodes.size()) + "D";
        out_ << "<Grid Name=\"" << xml(g.name) << "\" GridType=\"Uniform\">\n"
             << stamp << "<Topology TopologyType=\"" << order
             << (g.mesh == nullptr ? "CoRectMesh"
                 : g.lines.empty() ? "SMesh"
                                   : "RectMesh")
             << "\" Dimensions=\"" << joined(g.nodes) << "\"/>\n";
        const bool solid = g.nodes.size() == 3;
        if (g.mesh == nullptr) {
            out_ << "<Geometry GeometryType=\"" << (solid ? "ORIGIN_DXDYDZ" : "ORIGIN_DXDY") << "\">\n";
            for (const char* value : {"0", "1"}) {
                out_ << "<DataItem Dimensions=\"" << g.nodes.size()
                     << "\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">";
                for (size_t i = 0; i < g.nodes.size(); ++i) out_ << (i > 0 ? " " : "") << value;
                out_ << "</DataItem>\n";
            }
        } else {
            // XDMF lists x first, the mesh its slowest dimension.
            out_ << "<Geometry GeometryType=\""
                 << (g.lines.empty() ? (solid ? "X_Y_Z" : "X_Y") : (solid ? "VXVYVZ" : "VXVY")) << "\">\n";
            for (size_t i = g.lines.size(); i-- > 0;) write_line(*g.lines[i]);
            for (size_t i = g.points.size(); i-- > 0;) write_data(*g.points[i], time);
        }
        out_ << "</Geometry>\n";
        for (const auto& [v, on_nodes] : g.variables) {
            out_ << "<Attribute Name=\"" << xml(v->path) << "\" AttributeType=\"Scalar\" Center=\""
                 << (on_nodes ? "Node" : "Cell") << "\">\n";
            write_data(*v, time);
            out_ << "</Attribute>\n";
        }
        out_ << "</Grid>\n";
    }

    void write_line(const dimension& d) {
        out_ << "<DataItem Dimensions=\"" << d.size << "\" " << number_format(d.type) << " Format=\"HDF\">"
             << xml(view_) << ":/" << xml(d.path) << "</DataItem>\n";
    }

    /// One time step of an array is selected by `|start:stride:count:whole` behind its name. ParaView's readers skip
    /// arrays that are selected by an item of type HyperSlab: they ask for the type of a selection before they read it.
    void write_data(const view_variable& v, size_t time) {
        out_ << "<DataItem Dimensions=\"" << joined(drawn_shape(v)) << "\" " << number_format(v.description.type)
             << " Format=\"HDF\">" << xml(view_) << ":/" << xml(v.path);
        if (v.description.time_varying) {
            shape_list start(v.shape.size(), 0);
            start[0] = static_cast<int64_t>(time);
            shape_list count = v.shape;
            count[0] = 1;
            out_ << "|" << joined(start) << ":" << joined(shape_list(v.shape.size(), 1)) << ":" << joined(count) << ":"
                 << joined(v.shape);
        }
        out_ << "</DataItem>\n";
    }

    const view_plan& plan_;
    std::string simulation_, view_;
    std::vector<grid> grids_;
    std::ostringstream out_;
};

}  // namespace

std::string xdmf_text(const view_plan& plan, const std::string& simulation, const std::string& view_name) {
    return xdmf_writer(plan, simulation, view_name).text();
}

}  // namespace halcyon::offload::hdf5
