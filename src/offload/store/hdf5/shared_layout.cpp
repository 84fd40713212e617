#include "offload/store/hdf5/shared_layout.hpp"

#include <vector>

#include "offload/store/hdf5/file_description.hpp"
#include "offload/store/hdf5/file_driver.hpp"
#include "offload/store/hdf5/format.hpp"
#include "offload/store/hdf5/types.hpp"

namespace halcyon::offload::hdf5 {
namespace {

void create_dataset(hid_t group, const shared_file& file, const shared_dataset& d) {
    const variable& v = file.about.data->variables.at(d.variable_id);
    const encoding how = encoding::uncompressed(v, file.about.data->layouts.at(v.layout_id).type);
    const std::string name = domain_name(d.domain, d.variant);
    const std::string doing = "'" + v.name + "': create its dataset " + name;
    std::vector<hsize_t> shape{static_cast<hsize_t>(d.row_count)};
    shape.insert(shape.end(), d.shape.dimensions.span().begin(), d.shape.dimensions.span().end());
    const list_handle list = plain_creation_list(how);
    check(H5Pset_layout(list.get(), H5D_CONTIGUOUS), doing);
    check(H5Pset_alloc_time(list.get(), H5D_ALLOC_TIME_EARLY), doing);
    // What all servers cover need not be written twice.
    check(H5Pset_fill_time(list.get(), d.covered ? H5D_FILL_TIME_NEVER : H5D_FILL_TIME_ALLOC), doing);
    const space_handle space{check(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), doing)};
    const hid_t type = how.precision == precision::half ? half_type() : type_of(how.type);
    const dataset_handle dataset{
        check(H5Dcreate2(group, name.c_str(), type, space.get(), link_list(), list.get(), H5P_DEFAULT), doing)};
    set_attributes(dataset.get(), attributes_of_dataset(d.rank, d.block, d.shape, d.rows, d.row_count));
    if (d.domain == shared_dataset::whole && !d.covered) set_attribute(dataset.get(), gaps_attribute, int64_t{1});
}

void write_layout(const shared_file& file, output_file& out) {
    constexpr size_t per_dataset = 704;
    constexpr size_t per_file = 4096;
    const file_job& about = file.about;
    std::vector<std::string> names;
    for (const shared_dataset& d : file.datasets) {
        const std::string& name = about.data->variables.at(d.variable_id).name;
        check_name(name).value();
        names.push_back(name);
    }
    file_handle h = create_file(out, about.path, per_file + per_dataset * names.size());
    {
        set_attributes(h.get(), attributes_of(about));
        const group_handle own = create_group(h.get(), reserved_group, 5);
        write_tables(own.get(), about);
        group_tree groups(h.get(), names);
        for (size_t i = 0; i < names.size(); ++i) {
            const hid_t group = groups.open("/" + names[i]);
            if (i == 0 || names[i] != names[i - 1])
                set_attributes(group,
                               attributes_of(*about.data, about.data->variables.at(file.datasets[i].variable_id)));
            create_dataset(group, file, file.datasets[i]);
            out.throw_if_failed();
        }
    }
    check(H5Fclose(h.release()), about.path + ": close");
}

}  // namespace

void lay_out_file(const shared_file& file) {
    output_file out(file.about.path + ".layout.tmp");
    out.reserve_room();
    try {
        write_layout(file, out);
    } catch (const error&) {
        out.throw_if_failed();
        throw;
    }
    out.publish(file.about.path + ".tmp", false);
}

}  // namespace halcyon::offload::hdf5
