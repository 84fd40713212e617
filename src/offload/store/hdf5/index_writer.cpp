#include "offload/store/hdf5/index_writer.hpp"

#include <limits>
#include <string>

#include "offload/store/hdf5/format.hpp"
#include "offload/store/hdf5/types.hpp"
#include "offload/transform/bitround.hpp"
#include "offload/transform/half.hpp"
#include "offload/transform/value_range.hpp"

namespace halcyon::offload::hdf5 {
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

void create_parents(hid_t own, const std::string& path) {
    for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
        const std::string parent = path.substr(0, slash);
        if (check(H5Lexists(own, parent.c_str(), H5P_DEFAULT), parent) == 0)
            static_cast<void>(create_group(own, parent, 4));
    }
}

}  // namespace

void write_index(hid_t own, const file_job& job, const std::vector<domain_rows>& datasets) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    for (size_t begin = 0; begin < datasets.size();) {
        size_t end = begin;
        while (end < datasets.size() && datasets[end].var == datasets[begin].var) ++end;
        const variable& v = *datasets[begin].var;
        const scalar_type type = job.data->layouts.at(v.layout_id).type;
        const encoding how = encoding::of(v, type, job.compress, false);
        const size_t rows = datasets[begin].rows.size();
        std::vector<double> table;
        std::vector<std::string> names;
        for (size_t set = begin; set < end; ++set)
            names.push_back(domain_name(datasets[set].domain, datasets[set].variant));
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
        const std::string path = "index/" + v.name + "/min_max";
        create_parents(own, path);
        const hsize_t shape[] = {rows, end - begin, 3};
        write_dataset(own, path, H5T_NATIVE_DOUBLE, shape, table.data());
        const object_handle dataset{check(H5Oopen(own, path.c_str(), H5P_DEFAULT), path)};
        set_attribute(dataset.get(), "datasets", names);
        set_attribute(dataset.get(), "columns", std::vector<std::string>{"min", "max", "nan_count"});
        begin = end;
    }
}

}  // namespace halcyon::offload::hdf5
