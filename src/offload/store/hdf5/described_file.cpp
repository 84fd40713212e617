#include "offload/store/hdf5/described_file.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "offload/store/contents/dataset_shape.hpp"
#include "offload/store/hdf5/file_description.hpp"
#include "offload/store/hdf5/file_driver.hpp"
#include "offload/store/hdf5/format.hpp"
#include "offload/store/hdf5/index_writer.hpp"
#include "offload/store/hdf5/library_use.hpp"
#include "offload/store/hdf5/types.hpp"
#include "offload/store/hdf5/zstd_filter.hpp"

namespace halcyon::offload::hdf5 {
namespace {

/// A place or shape as the library wants it.
struct hdf5_extents {
    explicit hdf5_extents(std::span<const uint64_t> from) : rank(static_cast<int>(from.size())) {
        std::copy(from.begin(), from.end(), values.begin());
    }
    std::array<hsize_t, max_dimensions + 1> values{};
    int rank;
};

list_handle creation_list(const encoding& how, std::span<const uint64_t> chunk, bool empty) {
    list_handle list = plain_creation_list(how);
    if (empty) return list;
    const hdf5_extents extents(chunk);
    check(H5Pset_chunk(list.get(), extents.rank, extents.values.data()), "chunk shape");
    if (shuffles(how)) check(H5Pset_shuffle(list.get()), "shuffle");
    const auto level = static_cast<unsigned>(how.level);
    if (how.method == compression::gzip) check(H5Pset_deflate(list.get(), level), "gzip");
    if (how.method == compression::zstd) {
        check(H5Pset_filter(list.get(), zstd_filter_id, H5Z_FLAG_OPTIONAL, 1, &level), "zstd");
    }
    if (how.checksum) check(H5Pset_fletcher32(list.get()), "checksum");
    return list;
}

std::vector<std::string> names_of(const std::vector<domain_rows>& datasets) {
    std::vector<std::string> names;
    names.reserve(datasets.size());
    for (const domain_rows& set : datasets) names.push_back(set.var->name);
    return names;
}

}  // namespace

/// What HDF5 has open.
struct described_file::open_parts {
    /// What HDF5 needs for datasets: making its lists takes longer than making a dataset with them.
    struct dataset_kind {
        hid_t stored_type = H5I_INVALID_HID;
        space_handle space;
        list_handle list;
    };
    static dataset_kind kind_of(const dataset_shape& s) {
        const hdf5_extents shape(s.shape);
        return {s.how.precision == precision::half ? half_type() : type_of(s.how.type),
                space_handle{check(H5Screate_simple(shape.rank, shape.values.data(), nullptr), "dataspace")},
                creation_list(s.how, s.chunk, s.empty)};
    }

    file_handle file;
    group_handle own;
    std::optional<group_tree> groups;
    dataset_shape shape;
    dataset_kind kind;
    dataset_handle dataset;
    size_t next_set = 0;  ///< the dataset after the open one
};

described_file::described_file(const file_job& job, const std::vector<domain_rows>& datasets, output_file& out)
    : job_(job), datasets_(datasets), out_(out) {
    constexpr size_t per_dataset = 704;
    constexpr size_t per_file = 4096;
    const library_use now;
    auto parts = std::make_unique<open_parts>();
    parts->file = create_file(out_, job_.path, per_file + per_dataset * datasets_.size());
    set_attributes(parts->file.get(), attributes_of(job_));
    parts->own = create_group(parts->file.get(), reserved_group, 5);
    const size_t before = out_.data().size();
    write_tables(parts->own.get(), job_);
    places_.note(out_, before, job_.iterations.size() * sizeof(int64_t));
    parts->groups.emplace(parts->file.get(), names_of(datasets_));
    open_ = std::move(parts);
}

described_file::~described_file() {
    const library_use now;
    open_.reset();
}

/// Creates the datasets up to this one and leaves it open.
void described_file::go_to(size_t set_index) {
    open_parts& o = *open_;
    for (; o.next_set <= set_index; ++o.next_set) {
        const domain_rows& set = datasets_[o.next_set];
        const hid_t group = o.groups->open("/" + set.var->name);
        if (o.shape.var != set.var) set_attributes(group, attributes_of(*job_.data, *set.var));
        if (fit(o.shape, job_, set)) o.kind = open_parts::kind_of(o.shape);
        const std::string name = domain_name(set.domain, set.variant);
        o.dataset.reset();
        o.dataset = dataset_handle{check(H5Dcreate2(group, name.c_str(), o.kind.stored_type, o.kind.space.get(),
                                                    link_list(), o.kind.list.get(), H5P_DEFAULT),
                                         "'" + set.var->name + "': create its dataset " + name)};
        const block_view& block = set.sample();
        set_attributes(o.dataset.get(), attributes_of_dataset(block.rank, block.block, block.shape, set.present(),
                                                              static_cast<int64_t>(set.rows.size())));
    }
}

void described_file::add(std::span<const ready_chunk> chunks) {
    const library_use now;
    for (const ready_chunk& chunk : chunks) {
        go_to(chunk.set);
        const std::span<const std::byte> bytes = chunk.encoded.bytes;
        const size_t before = out_.data().size();
        const hdf5_extents origin(chunk.origin);
        out_.hold(bytes);
        check(H5Dwrite_chunk(open_->dataset.get(), H5P_DEFAULT, chunk.encoded.filter_mask, origin.values.data(),
                             bytes.size(), bytes.data()),
              "'" + datasets_[chunk.set].var->name + "': write its dataset");
        out_.throw_if_failed();
        places_.note(out_, before, bytes.size());
    }
}

value_places described_file::finish() {
    const auto index = job_.target->index ? index_of(job_, datasets_) : std::vector<variable_index>();
    const library_use now;
    if (!datasets_.empty()) go_to(datasets_.size() - 1);
    write_index(open_->own.get(), index);
    const hid_t file = open_->file.release();
    open_.reset();
    check(H5Fclose(file), job_.path + ": close");
    return places_;
}

}  // namespace halcyon::offload::hdf5
