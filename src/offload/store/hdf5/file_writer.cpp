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

/// How the datasets of a variable are cut into chunks, the same as long as its blocks have one shape.
struct dataset_shape {
    const variable* var = nullptr;
    encoding how;
    std::vector<hsize_t> shape, chunk;
    bool empty = false;
};

/// True when `known` had to change for `set`.
bool fit(dataset_shape& known, const file_job& job, const domain_rows& set) {
    const extents& dimensions = set.sample().shape.dimensions;
    std::vector<hsize_t> shape{set.rows.size()};
    shape.insert(shape.end(), dimensions.span().begin(), dimensions.span().end());
    if (known.var == set.var && known.shape == shape) return false;
    known.var = set.var;
    known.shape = std::move(shape);
    const scalar_type type = job.data->layouts.at(set.var->layout_id).type;
    known.how = encoding::of(*set.var, type, job.compress, job.target->checksum);
    known.chunk = chunk_shape(static_cast<int64_t>(known.shape[0]), dimensions,
                              static_cast<int64_t>(known.how.stored_element_bytes()), job.target->expected_reader);
    known.empty = dimensions.count() == 0;
    return true;
}

/// What HDF5 needs for them: making its lists takes longer than making a dataset with them.
struct dataset_kind {
    hid_t stored_type = H5I_INVALID_HID;
    space_handle space;
    list_handle list;
};

dataset_kind kind_of(const dataset_shape& s) {
    return {
        s.how.precision == precision::half ? half_type() : type_of(s.how.type),
        space_handle{check(H5Screate_simple(static_cast<int>(s.shape.size()), s.shape.data(), nullptr), "dataspace")},
        creation_list(s.how, s.chunk, s.empty)};
}

/// Calls `write` with the origin and the bytes of each chunk that holds a block.
template <class Write>
void for_each_chunk(const domain_rows& set, const dataset_shape& s, writer_memory& memory, Write write) {
    if (s.empty) return;
    std::vector<hsize_t> origin(s.shape.size(), 0);
    do {
        if (s.chunk[0] == 1 && set.rows[origin[0]] == nullptr) continue;
        write(origin, memory.encoder.encode(cut_chunk(set, s.how.type, origin, s.chunk, memory.cut), s.how));
    } while (next_chunk(origin, s.chunk, s.shape));
}

void write_domain(hid_t group, const domain_rows& set, const dataset_shape& s, const dataset_kind& kind,
                  output_file& out, writer_memory& memory, value_places& places) {
    const std::string name = domain_name(set.domain, set.variant);
    const auto doing = [&](const char* what) { return "'" + set.var->name + "': " + what + " its dataset " + name; };
    const dataset_handle dataset{check(
        H5Dcreate2(group, name.c_str(), kind.stored_type, kind.space.get(), link_list(), kind.list.get(), H5P_DEFAULT),
        doing("create"))};
    const block_view& block = set.sample();
    set_attributes(dataset.get(), attributes_of_dataset(block.rank, block.block, block.shape, set.present(),
                                                        static_cast<int64_t>(set.rows.size())));
    for_each_chunk(set, s, memory, [&](const std::vector<hsize_t>& origin, const encoded_chunk& chunk) {
        const size_t before = out.data().size();
        check(H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, chunk.filter_mask, origin.data(), chunk.bytes.size(),
                             chunk.bytes.data()),
              doing("write"));
        out.throw_if_failed();
        places.note(out, before, chunk.bytes.size());
    });
}

/// Returns where the iterations and the chunks went.
value_places write_with_hdf5(const file_job& job, const std::vector<domain_rows>& datasets, output_file& out,
                             writer_memory& memory) {
    constexpr size_t per_dataset = 704;
    constexpr size_t per_file = 4096;
    value_places places;
    file_handle file = create_file(out, job.path, per_file + per_dataset * datasets.size());
    {
        set_attributes(file.get(), attributes_of(job));
        const group_handle own = create_group(file.get(), reserved_group, 5);
        const size_t before = out.data().size();
        write_tables(own.get(), job);
        places.note(out, before, job.iterations.size() * sizeof(int64_t));
        std::vector<std::string> names;
        names.reserve(datasets.size());
        for (const domain_rows& set : datasets) names.push_back(set.var->name);
        group_tree groups(file.get(), names);
        dataset_shape shape;
        dataset_kind kind;
        for (const domain_rows& set : datasets) {
            const hid_t group = groups.open("/" + set.var->name);
            if (shape.var != set.var) set_attributes(group, attributes_of(*job.data, *set.var));
            if (fit(shape, job, set)) kind = kind_of(shape);
            write_domain(group, set, shape, kind, out, memory, places);
        }
        if (job.target->index) write_index(own.get(), job, datasets);
    }
    check(H5Fclose(file.release()), job.path + ": close");
    return places;
}

/// Writes what HDF5 would, given a file of the same description. False: the values are not those of the pattern, and
/// what is in `out` is void.
bool write_like(const file_pattern& pattern, const file_job& job, const std::vector<domain_rows>& datasets,
                output_file& out, writer_memory& memory) {
    auto place = pattern.values.begin();
    bool fits = true;
    const auto put = [&](std::span<const std::byte> bytes) {
        fits = fits && place != pattern.values.end() && place->bytes == bytes.size();
        if (!fits) return;
        out.write_data(place++->address, bytes);
        out.throw_if_failed();
    };
    put(std::as_bytes(std::span(job.iterations)));
    dataset_shape shape;
    for (const domain_rows& set : datasets) {
        if (!fits) return false;
        fit(shape, job, set);
        for_each_chunk(set, shape, memory, [&](const auto&, const encoded_chunk& chunk) { put(chunk.bytes); });
    }
    if (!fits || place != pattern.values.end()) return false;
    for (const auto& [address, bytes] : pattern.metadata) out.write_metadata(address, bytes);
    out.end_at(pattern.size);
    return true;
}

}  // namespace

void write_contents(const file_job& job, const std::vector<domain_rows>& datasets, output_file& out,
                    writer_memory& memory, pattern_memory& patterns) {
    for (const domain_rows& set : datasets) check_name(set.var->name).value();
    std::string description = patterns.on() ? description_of(job, datasets) : std::string();
    if (const auto pattern = patterns.pattern_for(description)) {
        if (write_like(*pattern, job, datasets, out, memory)) return;
        patterns.refute();
        out.begin_again();
        description.clear();
    }
    const value_places places = write_with_hdf5(job, datasets, out, memory);
    if (description.empty()) return;
    file_pattern made = pattern_of(std::move(description), out, places);
    out.throw_if_failed();
    patterns.keep(std::move(made));
}

}  // namespace halcyon::offload::hdf5
