#include "offload/store/contents/block_bounds.hpp"

#include <limits>

#include "offload/store/contents/encoding.hpp"
#include "offload/store/contents/names.hpp"
#include "offload/transform/bitround.hpp"
#include "offload/transform/half.hpp"
#include "offload/transform/value_range.hpp"

namespace halcyon::offload {
namespace {

/// Rounding keeps order, so the bounds of the rounded values are the rounded bounds.
double as_stored(double bound, const encoding& how) {
    if (how.precision == precision::full || bound != bound) return bound;
    const bool narrow = how.type == scalar_type::float32;
    const auto single = static_cast<float>(narrow ? bound : 0.0);
    if (how.precision == precision::half) {
        uint16_t half = 0;
        if (narrow) {
            to_half({&single, 1}, {&half, 1});
        } else {
            to_half({&bound, 1}, {&half, 1});
        }
        return half_value(half);
    }
    float rounded_single = 0;
    double rounded = 0;
    bitround({&single, 1}, {&rounded_single, 1}, how.significant_bits);
    bitround({&bound, 1}, {&rounded, 1}, how.significant_bits);
    return narrow ? static_cast<double>(rounded_single) : rounded;
}

}  // namespace

std::vector<variable_index> index_of(const file_job& job, const std::vector<domain_rows>& datasets) {
    std::vector<variable_index> index;
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    for (size_t begin = 0; begin < datasets.size();) {
        size_t end = begin;
        while (end < datasets.size() && datasets[end].var == datasets[begin].var) ++end;
        const variable& v = *datasets[begin].var;
        const scalar_type type = job.data->layouts.at(v.layout_id).type;
        const encoding how = encoding::of(v, type, job.compress, false);
        const size_t rows = datasets[begin].rows.size();
        variable_index one{v.name, rows, {}, {}};
        std::vector<double>& table = one.table;
        for (size_t set = begin; set < end; ++set)
            one.datasets.push_back(domain_name(datasets[set].domain, datasets[set].variant));
        for (size_t row = 0; row < rows; ++row) {
            for (size_t set = begin; set < end; ++set) {
                const block_view* block = datasets[set].rows[row];
                if (block == nullptr) {
                    table.insert(table.end(), {none, none, -1.0});
                    continue;
                }
                const value_range range = range_of(block->data, type);
                table.insert(table.end(), {as_stored(range.min, how), as_stored(range.max, how),
                                           static_cast<double>(range.nan_count)});
            }
        }
        index.push_back(std::move(one));
        begin = end;
    }
    return index;
}

}  // namespace halcyon::offload
