#include "offload/store/contents/description.hpp"

#include <set>

#include "offload/store/contents/fill_value.hpp"
#include "offload/store/contents/names.hpp"

namespace halcyon::offload {
namespace {

std::vector<int64_t> listed(const extents& e) {
    return {e.span().begin(), e.span().end()};
}

}  // namespace

attribute_list attributes_of(const mesh& m) {
    return {{"name", m.name},   {"type", std::string(name_of(m.type))}, {"coordinates", m.coordinates},
            {"cells", m.cells}, {"cell_types", m.cell_types},           {"cell_sizes", m.cell_sizes}};
}

attribute_list attributes_of(const file_job& job) {
    std::set<int64_t> incomplete(job.unfinished.begin(), job.unfinished.end());
    for (const missing_block& m : job.missing) incomplete.insert(m.iteration);
    attribute_list list{{"format", std::string(format_name)},
                        {"format_version", format_version},
                        {"simulation", job.data->simulation},
                        {"writer", job.writer},
                        {"ranks", int64_t{job.ranks}},
                        {"part", int64_t{job.part}},
                        {"incomplete", int64_t{incomplete.empty() ? 0 : 1}}};
    if (!incomplete.empty())
        list.push_back({"incomplete_iterations", std::vector<int64_t>(incomplete.begin(), incomplete.end())});
    return list;
}

attribute_list attributes_of(const model& m, const variable& v) {
    const layout& l = m.layouts.at(v.layout_id);
    attribute_list list{{"type", std::string(offload::name_of(l.type))},
                        {"time_varying", int64_t{v.time_varying ? 1 : 0}},
                        {"placed", int64_t{v.place_id ? 1 : 0}},
                        {"centering", std::string(name_of(v.centered))},
                        {"layout", l.name}};
    if (!v.unit.empty()) list.push_back({"unit", v.unit});
    if (!v.description.empty()) list.push_back({"description", v.description});
    if (v.mesh_id) list.push_back({"mesh", m.meshes.at(*v.mesh_id).name});
    if (is_floating(l.type) && v.precision == precision::half) list.push_back({"precision", std::string("half")});
    if (is_floating(l.type) && v.precision == precision::bitround)
        list.push_back({"precision", "bitround " + std::to_string(v.significant_bits)});
    return list;
}

attribute_list attributes_of_dataset(int32_t rank, int32_t block, const block_shape& shape,
                                     const std::vector<int64_t>& present, int64_t rows) {
    attribute_list list{{"rank", int64_t{rank}},
                        {"block", int64_t{block}},
                        {"global", listed(shape.global)},
                        {"offset", listed(shape.offset)},
                        {"ghost_before", listed(shape.ghost_before)},
                        {"ghost_after", listed(shape.ghost_after)}};
    if (static_cast<int64_t>(present.size()) < rows) list.push_back({"rows", present});
    return list;
}

missing_table missing_of(const file_job& job) {
    missing_table table;
    for (const missing_block& m : job.missing) {
        table.rows.insert(table.rows.end(), {m.iteration, m.rank, m.block, static_cast<int64_t>(m.reason)});
        table.variables.push_back(job.data->variables.at(m.variable_id).name);
    }
    return table;
}

attribute_list attributes_of_missing() {
    return {{"columns", std::vector<std::string>{"iteration", "rank", "block", "reason"}},
            {"reasons", std::vector<std::string>{"client_died", "skipped", "corrupt", "not_written", "uncommitted"}}};
}

}  // namespace halcyon::offload
