#include "offload/store/hdf5/view_plan.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <tuple>

#include "offload/model/mesh_fit.hpp"
#include "offload/store/hdf5/view_arrays.hpp"

namespace halcyon::offload::hdf5 {
namespace {

std::string parent_of(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string leaf_of(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

bool is_within(const std::string& group, const std::string& ancestor) {
    return ancestor.empty() || group == ancestor || group.starts_with(ancestor + "/");
}

/// One axis of a variable on a rectilinear mesh.
struct axis_use {
    std::string coordinate;
    bool centers = false;  ///< the coordinate has one value more: its cells' centres are meant
    friend bool operator<(const axis_use& a, const axis_use& b) {
        return std::tie(a.coordinate, a.centers) < std::tie(b.coordinate, b.centers);
    }
};

template <class T>
void append_midpoints(const std::vector<std::byte>& bytes, std::vector<double>& out) {
    const size_t count = bytes.size() / sizeof(T);
    const auto at = [&bytes](size_t i) {
        T value;
        std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
        return static_cast<double>(value);
    };
    for (size_t i = 0; i + 1 < count; ++i) out.push_back((at(i) + at(i + 1)) / 2);
}

/// Midpoints of neighbouring values, as float64.
std::vector<std::byte> midpoints(const std::vector<std::byte>& bytes, scalar_type type) {
    std::vector<double> middle;
    switch (type) {
        case scalar_type::int8:
            append_midpoints<int8_t>(bytes, middle);
            break;
        case scalar_type::int16:
            append_midpoints<int16_t>(bytes, middle);
            break;
        case scalar_type::int32:
            append_midpoints<int32_t>(bytes, middle);
            break;
        case scalar_type::int64:
            append_midpoints<int64_t>(bytes, middle);
            break;
        case scalar_type::uint8:
            append_midpoints<uint8_t>(bytes, middle);
            break;
        case scalar_type::uint16:
            append_midpoints<uint16_t>(bytes, middle);
            break;
        case scalar_type::uint32:
            append_midpoints<uint32_t>(bytes, middle);
            break;
        case scalar_type::uint64:
            append_midpoints<uint64_t>(bytes, middle);
            break;
        case scalar_type::float32:
            append_midpoints<float>(bytes, middle);
            break;
        case scalar_type::float64:
            append_midpoints<double>(bytes, middle);
            break;
    }
    std::vector<std::byte> out(middle.size() * sizeof(double));
    if (!out.empty()) std::memcpy(out.data(), middle.data(), out.size());
    return out;
}

std::vector<int64_t> space_shape(const view_variable& v) {
    return {v.shape.begin() + (v.description.time_varying ? 1 : 0), v.shape.end()};
}

class planner {
  public:
    planner(const gathered_run& run, const coordinate_reader& read) : run_(run), read_(read) {}

    view_plan make() {
        plan_.iterations = run_.iterations;
        plan_.incomplete_iterations = run_.incomplete_iterations;
        plan_.meshes = run_.meshes;
        lay_out_arrays();
        resolve_clashes();
        add_time();
        add_coordinates();
        look_at_meshes();
        for (size_t i = 0; i < plan_.variables.size(); ++i) name_dimensions(i);
        // A coordinate that became a dimension's scale is written as such.
        std::erase_if(plan_.variables, [this](const view_variable& v) { return own_scales_.contains(v.path); });
        return std::move(plan_);
    }

  private:
    void lay_out_arrays() {
        for (const auto& [name, variable] : run_.variables) {
            variable_arrays shown = arrays_of(variable, static_cast<int64_t>(run_.iterations.size()));
            for (view_variable& array : shown.arrays) {
                plan_.variables.push_back(std::move(array));
                stacked_.push_back(shown.stacked_domains);
            }
            plan_.not_shown.insert(plan_.not_shown.end(), shown.not_shown.begin(), shown.not_shown.end());
        }
    }

    /// Where "a" and "a/b" both are variables, a group and a dataset would need the same name: "a" moves to "a/a".
    void resolve_clashes() {
        std::set<std::string> groups;
        for (const view_variable& v : plan_.variables) {
            taken_.insert(v.path);
            for (std::string group = parent_of(v.path); !group.empty(); group = parent_of(group)) groups.insert(group);
        }
        for (view_variable& v : plan_.variables) {
            if (groups.contains(v.path)) v.path = unused(v.path + "/" + leaf_of(v.path));
        }
        taken_.insert(groups.begin(), groups.end());
    }

    std::string unused(std::string path) {
        while (!taken_.insert(path).second) path += '_';
        return path;
    }

    void add_time() {
        dimension time;
        time.what = dimension::kind::number;
        time.path = taken_.contains("time") ? unused("iteration") : unused("time");
        time.numbers = plan_.iterations;
        time.size = static_cast<int64_t>(plan_.iterations.size());
        time.unit = "1";
        time.axis = 'T';
        time.description = "iteration";
        plan_.dimensions.push_back(std::move(time));
    }

    const view_variable* find_coordinate(const std::string& name) const {
        for (const view_variable& v : plan_.variables) {
            if (v.description.name == name && !v.description.time_varying) return &v;
        }
        return nullptr;
    }

    /// Length of a one-dimensional coordinate; every client may hold the whole of it (then one of them is shown).
    std::optional<int64_t> coordinate_length(const view_variable& c) const {
        const bool copies = c.shape.size() == 2 && !c.description.placed && !c.placed_whole;
        if (c.shape.size() != 1 && !copies) return std::nullopt;
        return c.shape.back();
    }

    std::optional<axis_use> axis_of(const view_variable& v, size_t axis) const {
        const auto mesh = run_.meshes.find(v.description.mesh);
        if (!v.placed_whole || mesh == run_.meshes.end() || mesh->second.type != "rectilinear") return std::nullopt;
        const size_t first = v.description.time_varying ? 1 : 0;
        const std::vector<std::string>& names = mesh->second.coordinates;
        if (axis < first || names.size() != v.shape.size() - first) return std::nullopt;
        const std::string& name = names[axis - first];
        const view_variable* coordinate = find_coordinate(name);
        if (coordinate == nullptr) return std::nullopt;
        const std::optional<int64_t> length = coordinate_length(*coordinate);
        if (length == v.shape[axis]) return axis_use{name, false};
        if (length == v.shape[axis] + 1) return axis_use{name, true};
        return std::nullopt;
    }

    void add_coordinates() {
        std::map<axis_use, std::set<std::string>> users;
        for (const view_variable& v : plan_.variables) {
            for (size_t axis = 0; axis < v.shape.size(); ++axis) {
                if (const auto use = axis_of(v, axis)) users[*use].insert(parent_of(v.path));
            }
        }
        // Meshes name their coordinates even where no variable lies on the nodes: figures need them.
        for (const auto& [name, mesh] : run_.meshes) {
            if (mesh.type != "rectilinear") continue;
            for (const std::string& coordinate : mesh.coordinates) {
                const view_variable* c = find_coordinate(coordinate);
                if (c != nullptr && coordinate_length(*c)) users[{coordinate, false}];
            }
        }
        for (const auto& [use, groups] : users) add_coordinate(use, groups);
    }

    /// Nodes of a mesh in each dimension; nullopt where a coordinate is not one array of its kind of mesh.
    std::optional<std::vector<int64_t>> nodes_of(const stored_mesh& mesh) const {
        std::vector<int64_t> nodes;
        for (const std::string& name : mesh.coordinates) {
            if (mesh.type == "rectilinear") {
                const view_variable* c = find_coordinate(name);
                const auto length = c != nullptr ? coordinate_length(*c) : std::nullopt;
                if (!length) return std::nullopt;
                nodes.push_back(*length);
            } else {
                for (const view_variable& v : plan_.variables)
                    if (v.description.name == name && v.placed_whole) return space_shape(v);
                return std::nullopt;
            }
        }
        return nodes;
    }

    /// A variable and a rectilinear or curvilinear mesh of which programs that draw cannot make a picture.
    void look_at_meshes() {
        for (const view_variable& v : plan_.variables) {
            const auto mesh = run_.meshes.find(v.description.mesh);
            if (mesh == run_.meshes.end()) continue;
            if (mesh->second.type != "rectilinear" && mesh->second.type != "curvilinear") continue;
            if (const std::string why = undrawn(v, mesh->second); !why.empty()) plan_.mesh_remarks.push_back(why);
        }
    }

    std::string undrawn(const view_variable& v, const stored_mesh& mesh) const {
        const std::string& name = v.description.name;
        for (const std::string& coordinate : mesh.coordinates)
            if (!run_.variables.contains(coordinate)) return describe_lost_coordinate(name, mesh.name, coordinate);
        if (!v.placed_whole) return v.description.placed ? "" : describe_scattered(name, mesh.name);
        const auto nodes = nodes_of(mesh);
        const std::vector<int64_t> shape = space_shape(v);
        if (!nodes || fit_of(shape, *nodes) != mesh_fit::none) return "";
        return describe_misfit(name, shape, mesh.name, *nodes);
    }

    void add_coordinate(const axis_use& use, const std::set<std::string>& groups) {
        const view_variable& source = *find_coordinate(use.coordinate);
        view_variable line = source;
        if (line.shape.size() == 2) {
            std::erase_if(line.pieces, [](const piece& p) { return p.target_start[0] != 0; });
            for (piece& p : line.pieces) {
                p.target_start.erase(p.target_start.begin());
                p.target_count.erase(p.target_count.begin());
            }
            line.shape.erase(line.shape.begin());
        }
        dimension d;
        d.what = dimension::kind::coordinate;
        d.unit = source.description.unit;
        d.description = source.description.description;
        d.values = read_(line);
        d.type = source.description.type;
        d.size = line.shape[0];
        // netCDF looks for a dimension in the variable's group and the groups around it.
        const std::string home = parent_of(source.path);
        const bool reachable = std::all_of(groups.begin(), groups.end(),
                                           [&home](const std::string& group) { return is_within(group, home); });
        if (use.centers) {
            d.values = midpoints(d.values, d.type);
            d.type = scalar_type::float64;
            --d.size;
            d.path = unused(leaf_of(source.path) + "_center");
        } else if (reachable && source.shape.size() == 1) {
            d.path = source.path;
            own_scales_.insert(source.path);
        } else {
            d.path = unused(leaf_of(source.path));
        }
        coordinate_scales_[use] = plan_.dimensions.size();
        if (!use.centers) plan_.coordinate_dimensions[use.coordinate] = plan_.dimensions.size();
        plan_.dimensions.push_back(std::move(d));
    }

    void name_dimensions(size_t index) {
        view_variable& v = plan_.variables[index];
        std::set<size_t> used;
        for (size_t axis = 0; axis < v.shape.size(); ++axis) {
            const bool is_time = axis == 0 && v.description.time_varying;
            const bool is_stack = axis == (v.description.time_varying ? 1U : 0U) && !stacked_[index].empty();
            std::optional<size_t> found;
            if (is_time) {
                found = 0;
            } else if (is_stack) {
                found = domains_dimension(stacked_[index]);
            } else if (const auto use = axis_of(v, axis)) {
                found = coordinate_scales_.at(*use);
            } else if (const auto own = plan_.coordinate_dimensions.find(v.description.name);
                       own != plan_.coordinate_dimensions.end() && axis + 1 == v.shape.size()) {
                found = own->second;
            }
            for (int repeat = 1; !found || used.contains(*found); ++repeat)
                found = plain_dimension(v.shape[axis], repeat);
            used.insert(*found);
            v.dimensions.push_back(*found);
        }
        name_auxiliary_coordinates(v);
    }

    /// Coordinates that are no dimensions (curvilinear meshes, points, moving ones) are named in an attribute.
    void name_auxiliary_coordinates(view_variable& v) const {
        const auto mesh = run_.meshes.find(v.description.mesh);
        if (mesh == run_.meshes.end()) return;
        for (const std::string& name : mesh->second.coordinates) {
            if (plan_.coordinate_dimensions.contains(name) || name == v.description.name) continue;
            const auto c = std::find_if(plan_.variables.begin(), plan_.variables.end(),
                                        [&name](const view_variable& other) { return other.description.name == name; });
            if (c == plan_.variables.end()) continue;
            const bool beside = parent_of(c->path) == parent_of(v.path);
            v.coordinates += (v.coordinates.empty() ? "" : " ") + (beside ? leaf_of(c->path) : "/" + c->path);
        }
    }

    size_t domains_dimension(const std::vector<int64_t>& domains) {
        const auto known = domain_scales_.find(domains);
        if (known != domain_scales_.end()) return known->second;
        dimension d;
        d.what = dimension::kind::number;
        d.path = unused("domain");
        d.numbers = domains;
        d.size = static_cast<int64_t>(domains.size());
        d.description = "domain: client's rank times blocks per client, plus block";
        plan_.dimensions.push_back(std::move(d));
        return domain_scales_[domains] = plan_.dimensions.size() - 1;
    }

    size_t plain_dimension(int64_t size, int repeat) {
        const auto known = plain_.find({size, repeat});
        if (known != plain_.end()) return known->second;
        dimension d;
        d.size = size;
        d.path = unused("dim_" + std::to_string(size) + (repeat > 1 ? "_" + std::to_string(repeat) : ""));
        plan_.dimensions.push_back(std::move(d));
        return plain_[{size, repeat}] = plan_.dimensions.size() - 1;
    }

    const gathered_run& run_;
    const coordinate_reader& read_;
    view_plan plan_;
    std::vector<std::vector<int64_t>> stacked_;  ///< parallel to plan_.variables
    std::set<std::string> taken_;
    std::set<std::string> own_scales_;
    std::map<axis_use, size_t> coordinate_scales_;
    std::map<std::vector<int64_t>, size_t> domain_scales_;
    std::map<std::pair<int64_t, int>, size_t> plain_;
};

}  // namespace

view_plan plan_view(const gathered_run& run, const coordinate_reader& read) {
    return planner(run, read).make();
}

}  // namespace halcyon::offload::hdf5
