#include "offload/store/hdf5/file_writer.hpp"

#include <string>

#include "offload/store/hdf5/chunking.hpp"
#include "offload/store/hdf5/file_description.hpp"
#include "offload/store/hdf5/file_driver.hpp"
#include "offload/store/hdf5/format.hpp"
#include "offload/store/hdf5/index_writer.hpp"
#include "offload/store/hdf5/types.hpp"
#include "offload/store/hdf5/zstd_filter.hpp"

namespace halcyon::offload::hdf5 {
namespace {

list_handle creation_list(const encoding& how, std::span<const hsize_t> chunk, bool empty) {
    list_handle list = plain_creation_list(how);
    if (empty) return list;
    check(H5Pset_chunk(list.get(), static_cast<int>(chunk.size()), chunk.data()), "chunk shape");
    if (how.shuffles()) check(H5Pset_shuffle(list.get()), "shuffle");
    const auto level = static_cast<unsigned>(how.level);
    if (how.method == compression::gzip) check(H5Pset_deflate(list.get(), level), "gzip");
    if (how.method == compression::zstd) {
        check(H5Pset_filter(list.get(), zstd_filter_id, H5Z_FLAG_OPTIONAL, 1, &level), "zstd");
    }
    if (how.checksum) check(H5Pset_fletcher32(list.get()), "checksum");
    return list;
}

/// Steps `origin` to the next chunk in C order; false behind the last one.
bool next_chunk(std::vector<hsize_t>& origin, std::span<const hsize_t> chunk, std::span<const hsize_t> shape) {
    for (size_t d = origin.size(); d-- > 0;) {
        origin[d] += chunk[d];
        if (origin[d] < shape[d]) return true;
        origin[d] = 0;
    }
    return false;
}

/// What the datasets of a variable share as long as their blocks have one shape: making HDF5's lists takes longer
/// than making a dataset with them.
struct dataset_kind {
    const variable* var = nullptr;
    encoding how;
    std::vector<hsize_t> shape, chunk;
    hid_t stored_type = H5I_INVALID_HID;
    bool empty = false;
    space_handle space;
    list_handle list;
};

void prepare(dataset_kind& kind, const file_job& job, const domain_rows& set) {
    const extents& dimensions = set.sample().shape.dimensions;
    std::vector<hsize_t> shape{set.rows.size()};
    shape.insert(shape.end(), dimensions.span().begin(), dimensions.span().end());
    if (kind.var == set.var && kind.shape == shape) return;
    kind.var = set.var;
    kind.shape = std::move(shape);
    const scalar_type type = job.data->layouts.at(set.var->layout_id).type;
    kind.how = encoding::of(*set.var, type, job.compress, job.target->checksum);
    kind.chunk = chunk_shape(static_cast<int64_t>(kind.shape[0]), dimensions,
                             static_cast<int64_t>(kind.how.stored_element_bytes()), job.target->expected_reader);
    kind.stored_type = kind.how.precision == precision::half ? half_type() : type_of(type);
    kind.empty = dimensions.count() == 0;
    kind.space = space_handle{
        check(H5Screate_simple(static_cast<int>(kind.shape.size()), kind.shape.data(), nullptr), "dataspace")};
    kind.list = creation_list(kind.how, kind.chunk, kind.empty);
}

void write_domain(hid_t group, const domain_rows& set, const dataset_kind& kind, output_file& out,
                  writer_memory& memory) {
    const std::string name = domain_name(set.domain, set.variant);
    const auto doing = [&](const char* what) { return "'" + set.var->name + "': " + what + " its dataset " + name; };
    const dataset_handle dataset{check(
        H5Dcreate2(group, name.c_str(), kind.stored_type, kind.space.get(), link_list(), kind.list.get(), H5P_DEFAULT),
        doing("create"))};
    const block_view& block = set.sample();
    describe_dataset(dataset.get(), block.rank, block.block, block.shape, set.present(),
                     static_cast<int64_t>(set.rows.size()));
    if (kind.empty) return;

    std::vector<hsize_t> origin(kind.shape.size(), 0);
    do {
        if (kind.chunk[0] == 1 && set.rows[origin[0]] == nullptr) continue;
        const encoded_chunk encoded =
            memory.encoder.encode(cut_chunk(set, kind.how.type, origin, kind.chunk, memory.cut), kind.how);
        check(H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, encoded.filter_mask, origin.data(), encoded.bytes.size(),
                             encoded.bytes.data()),
              doing("write"));
        out.throw_if_failed();
    } while (next_chunk(origin, kind.chunk, kind.shape));
}

}  // namespace

void write_contents(const file_job& job, const std::vector<domain_rows>& datasets, output_file& out,
                    writer_memory& memory) {
    for (const domain_rows& set : datasets) check_name(set.var->name).value();
    constexpr size_t per_dataset = 704;
    constexpr size_t per_file = 4096;
    file_handle file = create_file(out, job.path, per_file + per_dataset * datasets.size());
    {
        describe_file(file.get(), job);
        const group_handle own = create_group(file.get(), reserved_group, 5);
        write_tables(own.get(), job);
        std::vector<std::string> names;
        for (const domain_rows& set : datasets) names.push_back(set.var->name);
        group_tree groups(file.get(), names);
        dataset_kind kind;
        for (const domain_rows& set : datasets) {
            const hid_t group = groups.open("/" + set.var->name);
            if (kind.var != set.var) describe_variable(group, *job.data, *set.var);
            prepare(kind, job, set);
            write_domain(group, set, kind, out, memory);
        }
        if (job.target->index) write_index(own.get(), job, datasets);
    }
    check(H5Fclose(file.release()), job.path + ": close");
}

}  // namespace halcyon::offload::hdf5
