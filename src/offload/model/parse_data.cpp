#include <algorithm>

#include "base/closest_name.hpp"
#include "offload/model/parse_steps.hpp"

namespace halcyon::offload {
namespace {

/// Whether the value of `e` is the same for every process, block and time.
bool is_constant(const model& m, const expression& e) {
    return std::all_of(e.names().begin(), e.names().end(), [&](const std::string& name) {
        return std::any_of(m.parameters.begin(), m.parameters.end(),
                           [&](const parameter& p) { return p.name == name && !p.is_mutable; });
    });
}

/// An expression over the names in `known`, bound to their positions there.
expression parse_expression(const config_value& value, const std::vector<std::string>& known) {
    auto out = expression::parse(value.text());
    if (!out) value.refuse(out.why().message);
    std::vector<uint16_t> slots;
    for (const std::string& name : out->names()) {
        const auto found = std::find(known.begin(), known.end(), name);
        if (found == known.end()) value.refuse("no parameter '" + name + "'; known names: " + list_names(known));
        slots.push_back(static_cast<uint16_t>(found - known.begin()));
    }
    out->set_slots(std::move(slots));
    return std::move(*out);
}

/// Reads an extent or offset. What can be evaluated now is, so that a mistake is found with its line, not in a run.
expression parse_extent(const config_value& value, const model& m, const std::vector<std::string>& known) {
    expression out = parse_expression(value, known);
    if (!is_constant(m, out)) return out;
    const auto number = out.evaluate_integer([&](std::string_view name) -> std::optional<double> {
        for (const parameter& p : m.parameters)
            if (p.name == name) return p.value;
        return std::nullopt;
    });
    if (!number) value.refuse(number.why().message);
    if (*number < 0) {
        value.refuse("'" + printable(out.text()) + "' is " + std::to_string(*number) + "; expected 0 or more");
    }
    return out;
}

std::vector<expression> parse_extents(const config_value& list, const model& m, const std::vector<std::string>& known) {
    std::vector<expression> out;
    for (const config_value& item : list.items()) out.push_back(parse_extent(item, m, known));
    return out;
}

place::ghost_width parse_ghost(const config_value& value, const model& m, const std::vector<std::string>& known) {
    if (!value.is(yaml::node_kind::sequence)) {
        const expression both = parse_extent(value, m, known);
        return {both, both};
    }
    const auto sides = value.items();
    return {parse_extent(sides[0], m, known), parse_extent(sides[1], m, known)};
}

/// Refuses a constant shape that overflows: the same test that shape_of() makes, but with a line.
void check_constant_shape(const config_value& dimensions, const model& m, const layout& l) {
    if (!std::all_of(l.dimensions.begin(), l.dimensions.end(), [&](const auto& e) { return is_constant(m, e); }))
        return;
    model alone;
    alone.parameters = m.parameters;
    alone.layouts.push_back(l);
    variable any;
    if (!shape_of(alone, any, {})) dimensions.refuse("the block has more than 2^62 bytes");
}

const config_value& only_for_unstructured(const config_value& value, const mesh& described) {
    if (described.type != mesh_type::unstructured) {
        value.refuse("only an unstructured mesh has cells; this one is " + std::string(name_of(described.type)));
    }
    return value;
}

}  // namespace

void parse_layouts(const config_value& data, model& m) {
    const auto layouts = data.find("layouts");
    if (!layouts) return;
    const auto known = expression_names(m);
    for (const auto& [name, value] : layouts->entries()) {
        value.check_name("layout", name);
        layout l;
        l.name = name;
        l.type = value.find("type")->word(scalar_type_words);
        const config_value dimensions = *value.find("dimensions");
        l.dimensions = parse_extents(dimensions, m, known);
        l.where = value.where();
        check_constant_shape(dimensions, m, l);
        m.layouts.push_back(std::move(l));
    }
}

void parse_places(const config_value& data, model& m) {
    const auto places = data.find("places");
    if (!places) return;
    const auto known = expression_names(m);
    for (const auto& [name, value] : places->entries()) {
        value.check_name("place", name);
        place p;
        p.name = name;
        p.where = value.where();
        p.global = parse_extents(*value.find("global"), m, known);
        p.offset = parse_extents(*value.find("offset"), m, known);
        if (const auto ghost = value.find("ghost")) {
            for (const config_value& item : ghost->items()) p.ghost.push_back(parse_ghost(item, m, known));
        }
        const auto check_rank = [&](const char* key, size_t rank) {
            if (rank == p.global.size()) return;
            value.find(key)->refuse("has " + std::to_string(rank) + " dimensions, but 'global' has " +
                                    std::to_string(p.global.size()));
        };
        check_rank("offset", p.offset.size());
        if (value.find("ghost")) check_rank("ghost", p.ghost.size());
        m.places.push_back(std::move(p));
    }
}

void parse_mesh_names(const config_value& data, model& m) {
    const auto meshes = data.find("meshes");
    if (!meshes) return;
    for (const auto& [name, value] : meshes->entries()) {
        value.check_name("mesh", name);
        mesh described;
        described.name = name;
        described.type = value.find("type")->word(mesh_type_words);
        for (const config_value& item : value.find("coordinates")->items())
            described.coordinates.push_back(item.text());
        if (const auto v = value.find("cells")) described.cells = only_for_unstructured(*v, described).text();
        if (const auto v = value.find("cell-types")) described.cell_types = only_for_unstructured(*v, described).text();
        if (const auto v = value.find("cell-sizes")) described.cell_sizes = only_for_unstructured(*v, described).text();
        if (described.type == mesh_type::unstructured && (described.cells.empty() || described.cell_types.empty())) {
            value.refuse("an unstructured mesh needs 'cells' and 'cell-types'");
        }
        m.meshes.push_back(std::move(described));
    }
}

void parse_mesh_variables(const config_value& data, model& m) {
    const auto meshes = data.find("meshes");
    if (!meshes) return;
    const auto known = names_of(m.variables);
    for (const auto& [name, value] : meshes->entries()) {
        const bool rectilinear = value.find("type")->text() == "rectilinear";
        for (const config_value& item : value.find("coordinates")->items()) {
            const variable& coordinate = m.variables[item.index_among(known, "variable", "variables")];
            const size_t rank = m.layouts[coordinate.layout_id].dimensions.size();
            if (rectilinear && rank != 1) {
                item.refuse("a coordinate of a rectilinear mesh is a list, but '" + coordinate.name + "' has " +
                            std::to_string(rank) + " dimensions");
            }
        }
        for (const char* key : {"cells", "cell-types", "cell-sizes"}) {
            if (const auto v = value.find(key)) static_cast<void>(v->index_among(known, "variable", "variables"));
        }
    }
}

void parse_curves(const config_value& data, model& m) {
    const auto curves = data.find("curves");
    if (!curves) return;
    const auto known = names_of(m.variables);
    for (const auto& [name, value] : curves->entries()) {
        value.check_name("curve", name);
        const config_value x = *value.find("x");
        const config_value y = *value.find("y");
        m.curves.push_back({name, known[x.index_among(known, "variable", "variables")],
                            known[y.index_among(known, "variable", "variables")]});
    }
}

}  // namespace halcyon::offload
