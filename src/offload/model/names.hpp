#pragma once

#include "base/yaml/word_table.hpp"
#include "offload/model/model.hpp"

namespace halcyon::offload {

using yaml::value_of;
using yaml::word_of;
using yaml::word_table;

// The words of the configuration for each enumeration. The schema lists the same words; a test compares them.
inline constexpr word_table<scalar_type, 10> scalar_type_words{{{"int8", scalar_type::int8},
                                                                {"int16", scalar_type::int16},
                                                                {"int32", scalar_type::int32},
                                                                {"int64", scalar_type::int64},
                                                                {"uint8", scalar_type::uint8},
                                                                {"uint16", scalar_type::uint16},
                                                                {"uint32", scalar_type::uint32},
                                                                {"uint64", scalar_type::uint64},
                                                                {"float32", scalar_type::float32},
                                                                {"float64", scalar_type::float64}}};
inline constexpr word_table<full_policy, 4> full_policy_words{{{"block", full_policy::block},
                                                               {"spill", full_policy::spill},
                                                               {"skip", full_policy::skip},
                                                               {"inline", full_policy::run_inline}}};
inline constexpr word_table<scope, 3> scope_words{
    {{"client", scope::client}, {"node", scope::node}, {"job", scope::job}}};
inline constexpr word_table<centering, 2> centering_words{{{"node", centering::node}, {"cell", centering::cell}}};
inline constexpr word_table<compression, 4> compression_words{{{"none", compression::none},
                                                               {"gzip", compression::gzip},
                                                               {"zstd", compression::zstd},
                                                               {"when-idle", compression::when_idle}}};
inline constexpr word_table<precision, 3> precision_words{
    {{"full", precision::full}, {"bitround", precision::bitround}, {"half", precision::half}}};
inline constexpr word_table<mesh_type, 4> mesh_type_words{{{"rectilinear", mesh_type::rectilinear},
                                                           {"curvilinear", mesh_type::curvilinear},
                                                           {"unstructured", mesh_type::unstructured},
                                                           {"points", mesh_type::points}}};
inline constexpr word_table<reader, 3> reader_words{
    {{"as-written", reader::as_written}, {"time-series", reader::time_series}, {"maps", reader::maps}}};
inline constexpr word_table<turns, 3> turns_words{
    {{"none", turns::none}, {"transfer-slots", turns::transfer_slots}, {"coordinator", turns::coordinator}}};

}  // namespace halcyon::offload
