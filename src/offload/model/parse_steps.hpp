#pragma once

#include "base/yaml/config_value.hpp"
#include "offload/model/names.hpp"

namespace halcyon::offload {

using yaml::config_value;
using yaml::names_of;

// The steps of parse_model(), in their order: each may refer to what those before it read. All throw halcyon::error.

void parse_stores(const config_value& root, model& m);
void parse_layouts(const config_value& data, model& m);
void parse_places(const config_value& data, model& m);
void parse_mesh_names(const config_value& data, model& m);  ///< names and types: variables refer to them
void parse_variables(const config_value& data, model& m);
void parse_mesh_variables(const config_value& data, model& m);
void parse_curves(const config_value& data, model& m);
void parse_actions(const config_value& root, model& m);
void parse_events(const config_value& root, model& m);

/// What an expression may use, by slot: rank, size, block, then the parameters.
[[nodiscard]] std::vector<std::string> expression_names(const model& m);

/// Whether a name of `e` is a mutable parameter without `max`; which one.
[[nodiscard]] std::optional<std::string> unbounded_parameter(const model& m, const expression& e);

}  // namespace halcyon::offload
