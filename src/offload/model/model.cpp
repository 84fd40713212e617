#include "offload/model/model.hpp"

#include <algorithm>
#include <cmath>

#include "base/closest_name.hpp"
#include "offload/model/names.hpp"
#include "offload/model/parameter_check.hpp"

namespace halcyon::offload {
namespace {

template <class Items>
auto find_named(Items& items, std::string_view name) -> decltype(items.data()) {
    const auto found = std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.name == name; });
    return found == items.end() ? nullptr : &*found;
}

}  // namespace

int64_t size_of(scalar_type type) {
    switch (type) {
        case scalar_type::int8:
        case scalar_type::uint8:
            return 1;
        case scalar_type::int16:
        case scalar_type::uint16:
            return 2;
        case scalar_type::int32:
        case scalar_type::uint32:
        case scalar_type::float32:
            return 4;
        case scalar_type::int64:
        case scalar_type::uint64:
        case scalar_type::float64:
            return 8;
    }
    return 0;
}

std::string_view name_of(scalar_type value) {
    return word_of(scalar_type_words, value);
}
std::string_view name_of(full_policy value) {
    return word_of(full_policy_words, value);
}
std::string_view name_of(scope value) {
    return word_of(scope_words, value);
}
std::string_view name_of(centering value) {
    return word_of(centering_words, value);
}
std::string_view name_of(compression value) {
    return word_of(compression_words, value);
}
std::string_view name_of(precision value) {
    return word_of(precision_words, value);
}
std::string_view name_of(mesh_type value) {
    return word_of(mesh_type_words, value);
}
std::string_view name_of(reader value) {
    return word_of(reader_words, value);
}
std::string_view name_of(turns value) {
    return word_of(turns_words, value);
}

const variable* model::find_variable(std::string_view name) const {
    if (variable_index.empty()) return find_named(variables, name);
    const auto found = variable_index.find(name);
    return found == variable_index.end() ? nullptr : &variables[found->second];
}

const event* model::find_event(std::string_view name) const {
    return find_named(events, name);
}
const store* model::find_store(std::string_view name) const {
    return find_named(stores, name);
}
parameter* model::find_parameter(std::string_view name) {
    return find_named(parameters, name);
}
const parameter* model::find_parameter(std::string_view name) const {
    return find_named(parameters, name);
}

std::vector<uint32_t> model::steerable() const {
    std::vector<uint32_t> found;
    for (uint32_t i = 0; i < parameters.size(); ++i)
        if (parameters[i].is_steerable) found.push_back(i);
    return found;
}

std::vector<uint32_t> first_blocks(const model& m) {
    std::vector<uint32_t> first{0};
    first.reserve(m.variables.size() + 1);
    for (const variable& v : m.variables) first.push_back(first.back() + static_cast<uint32_t>(v.blocks_per_client));
    return first;
}

result<void> check_parameter_value(const parameter& p, double value) {
    const auto refuse = [&](const std::string& why) {
        return failure{error_kind::usage, "parameter '" + p.name + "': " + show(value) + " " + why, 0};
    };
    if (!std::isfinite(value)) return refuse("is not a finite number");
    if (!p.is_mutable) return {};
    if (value < p.min) return refuse("is too small; its min is " + show(p.min));
    if (p.max && value > *p.max) return refuse("is too large; its max is " + show(*p.max));
    return {};
}

failure unknown_parameter(const model& m, std::string_view name) {
    std::vector<std::string> known;
    for (const parameter& p : m.parameters) known.push_back(p.name);
    return {error_kind::usage,
            "no parameter '" + printable(name) + "'; known parameters: " + list_names(std::move(known)), 0};
}

result<void> model::set_parameter(std::string_view name, double value) {
    parameter* p = find_parameter(name);
    if (p == nullptr) return unknown_parameter(*this, name);
    if (!p->is_mutable) {
        return failure{
            error_kind::usage,
            "parameter '" + p->name + "' is not mutable: set it before halcyon_open, or declare 'mutable: true'", 0};
    }
    if (auto fits = check_parameter_value(*p, value); !fits) return fits;
    p->value = value;
    return {};
}

}  // namespace halcyon::offload
