#include <algorithm>

#include "base/closest_name.hpp"
#include "offload/model/parse_steps.hpp"

namespace halcyon::offload {
namespace {

/// What a group or a variable says about variables. A group's attributes are the defaults of all in it.
struct attributes {
    std::optional<uint32_t> layout, place, mesh;
    std::string mesh_where;
    std::string unit;
    offload::centering centered = centering::cell;
    std::optional<std::string> store;  ///< "" = not stored; nullopt = nothing said
    bool visualizable = false;
    bool time_varying = true;
    int blocks_per_client = 1;
    offload::precision precision = precision::full;
    int significant_bits = 0;
    offload::compression compression = compression::none;
    int compression_level = 4;
    full_policy when_full = full_policy::block;
};

class variable_parser {
  public:
    explicit variable_parser(model& m)
        : model_(m),
          layouts_(names_of(m.layouts)),
          places_(names_of(m.places)),
          meshes_(names_of(m.meshes)),
          stores_(names_of(m.stores)) {}

    void parse(const config_value& data) {
        attributes defaults;
        defaults.when_full = model_.buffer.when_full;
        if (stores_.empty()) defaults.store = "";
        if (stores_.size() == 1) defaults.store = stores_[0];
        parse_members(data, "", defaults);
        refuse_clashes();
    }

  private:
    void parse_members(const config_value& group, const std::string& prefix, const attributes& defaults) {
        if (const auto variables = group.find("variables")) {
            for (const auto& [name, value] : variables->entries()) {
                value.check_name("variable", name);
                check_reserved(value, "variable", prefix, name);
                add(value, prefix + name, read(value, defaults));
            }
        }
        if (const auto groups = group.find("groups")) {
            for (const auto& [name, value] : groups->entries()) {
                value.check_name("group", name);
                check_reserved(value, "group", prefix, name);
                groups_.emplace_back(prefix + name, value);
                parse_members(value, prefix + name + "/", read(value, defaults));
            }
        }
    }

    /// Stores keep tables of their own in a group of this name.
    static void check_reserved(const config_value& at, const std::string& what, const std::string& prefix,
                               const std::string& name) {
        if (prefix.empty() && name == reserved_name)
            at.refuse("the name of this " + what + " is kept for the store's own tables; choose another");
    }

    [[nodiscard]] attributes read(const config_value& from, attributes out) const {
        if (const auto v = from.find("layout")) out.layout = v->index_among(layouts_, "layout", "layouts");
        if (const auto v = from.find("place")) out.place = v->index_among(places_, "place", "places");
        if (const auto v = from.find("mesh")) {
            out.mesh = v->index_among(meshes_, "mesh", "meshes");
            out.mesh_where = v->where();
        }
        if (const auto v = from.find("unit")) out.unit = v->text();
        if (const auto v = from.find("centering")) out.centered = v->word(centering_words);
        if (const auto v = from.find("store")) {
            const bool none = v->is(yaml::node_kind::boolean);
            out.store = none ? "" : stores_[v->index_among(stores_, "store", "stores")];
        }
        if (const auto v = from.find("visualizable")) out.visualizable = v->boolean();
        if (const auto v = from.find("time-varying")) out.time_varying = v->boolean();
        if (const auto v = from.find("blocks-per-client")) out.blocks_per_client = static_cast<int>(v->integer());
        if (const auto v = from.find("when-full")) out.when_full = v->word(full_policy_words);
        if (const auto v = from.find("precision")) read_precision(*v, out);
        if (const auto v = from.find("compression")) read_compression(*v, out);
        return out;
    }

    static void read_precision(const config_value& from, attributes& out) {
        const auto bits = from.find("bitround");
        out.precision = bits ? precision::bitround : from.word(precision_words);
        out.significant_bits = bits ? static_cast<int>(bits->integer()) : 0;
    }

    static void read_compression(const config_value& from, attributes& out) {
        const auto type = from.find("type");
        out.compression = (type ? *type : from).word(compression_words);
        out.compression_level = 4;
        const auto level = from.find("level");
        if (!level) return;
        if (out.compression == compression::none) level->refuse("'none' has no level");
        if (out.compression != compression::zstd && level->integer() > 9) {
            level->refuse(level->text() + " is too large for gzip; expected at most 9");
        }
        out.compression_level = static_cast<int>(level->integer());
    }

    void add(const config_value& from, const std::string& full_name, const attributes& a) {
        if (!a.layout) from.refuse("'layout' is missing, here and in the groups around it");
        if (!a.store) {
            from.refuse("there are several stores (" + list_names(stores_) +
                        "); say which with 'store: …', or 'store: false'");
        }
        variable v;
        v.id = static_cast<uint32_t>(model_.variables.size());
        v.name = full_name;
        v.layout_id = *a.layout;
        v.place_id = a.place;
        v.mesh_id = a.mesh;
        v.mesh_where = a.mesh_where;
        v.unit = a.unit;
        if (const auto description = from.find("description")) v.description = description->text();
        v.centered = a.centered;
        v.store = *a.store;
        v.visualizable = a.visualizable;
        v.time_varying = a.time_varying;
        v.blocks_per_client = a.blocks_per_client;
        v.precision = a.precision;
        v.significant_bits = a.significant_bits;
        v.compression = a.compression;
        v.compression_level = a.compression_level;
        v.when_full = a.when_full;
        check(from, v);
        model_.variable_index.emplace(v.name, v.id);
        variables_.push_back(from);
        model_.variables.push_back(std::move(v));
    }

    void check(const config_value& from, const variable& v) const {
        const layout& l = model_.layouts[v.layout_id];
        const std::string shaped = "layout '" + l.name + "' has " + std::to_string(l.dimensions.size()) + " dimensions";
        if (v.place_id && model_.places[*v.place_id].global.size() != l.dimensions.size()) {
            const place& p = model_.places[*v.place_id];
            from.refuse(shaped + ", but place '" + p.name + "' has " + std::to_string(p.global.size()));
        }
        if (v.mesh_id) {
            const mesh& on = model_.meshes[*v.mesh_id];
            const bool grid = on.type == mesh_type::rectilinear || (on.type == mesh_type::curvilinear);
            if (grid && l.dimensions.size() < on.coordinates.size()) {
                from.refuse(shaped + ", but mesh '" + on.name + "' has " + std::to_string(on.coordinates.size()));
            }
        }
        if (v.precision != precision::full) check_precision(from, v, l);
        if (v.when_full == full_policy::spill) return;
        for (const expression& e : l.dimensions) {
            if (const auto name = unbounded_parameter(model_, e)) {
                from.refuse("layout '" + l.name + "' has no largest size, because parameter '" + *name +
                            "' is mutable without 'max'; give it one, or use 'when-full: spill' here");
            }
        }
    }

    static void check_precision(const config_value& from, const variable& v, const layout& l) {
        if (l.type != scalar_type::float32 && l.type != scalar_type::float64) {
            from.refuse("precision '" + std::string(name_of(v.precision)) +
                        "' needs a floating-point type, but layout '" + l.name + "' is " +
                        std::string(name_of(l.type)));
        }
        const int mantissa = l.type == scalar_type::float32 ? 23 : 52;
        if (v.precision == precision::bitround && v.significant_bits >= mantissa) {
            from.refuse("bitround: " + std::to_string(v.significant_bits) + " keeps all bits; the mantissa of " +
                        std::string(name_of(l.type)) + " has " + std::to_string(mantissa));
        }
    }

    /// In a file, a group and a variable of one name would be the same object.
    void refuse_clashes() const {
        for (const auto& [name, value] : groups_) {
            const auto found = model_.variable_index.find(name);
            if (found != model_.variable_index.end()) {
                value.refuse("there is also a variable '" + printable(name) + "' (" +
                             variables_[found->second].where() + ")");
            }
        }
    }

    model& model_;
    std::vector<std::string> layouts_, places_, meshes_, stores_;
    std::vector<std::pair<std::string, config_value>> groups_;
    std::vector<config_value> variables_;
};

}  // namespace

void parse_variables(const config_value& data, model& m) {
    variable_parser(m).parse(data);
}

}  // namespace halcyon::offload
