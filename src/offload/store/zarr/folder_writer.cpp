#include "offload/store/zarr/folder_writer.hpp"

#include <map>
#include <string>
#include <vector>

#include "offload/store/contents/block_bounds.hpp"
#include "offload/store/contents/dataset_shape.hpp"
#include "offload/store/contents/description.hpp"
#include "offload/store/contents/domain_rows.hpp"
#include "offload/store/contents/names.hpp"
#include "offload/store/zarr/dimension_names.hpp"
#include "offload/store/zarr/format.hpp"
#include "offload/store/zarr/metadata.hpp"

namespace halcyon::offload::zarr {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

class folder_writer {
  public:
    folder_writer(const file_job& job, output_folder& out, writer_memory& memory)
        : job_(job), out_(out), memory_(memory), datasets_(sort_into_datasets(job)) {
        for (const domain_rows& set : datasets_) check_name(set.var->name).value();
    }

    void write() {
        add_metadata("", group_metadata(attributes_of(job_)));
        write_tables();
        make_groups();
        for (size_t begin = 0; begin < datasets_.size();) {
            size_t end = begin;
            while (end < datasets_.size() && datasets_[end].var == datasets_[begin].var) ++end;
            write_variable(std::span(datasets_).subspan(begin, end - begin));
            begin = end;
        }
        if (job_.target->index) write_index();
    }

  private:
    void add_metadata(const std::string& node, const std::string& text) {
        out_.add_file((node.empty() ? "" : node + "/") + metadata_name, bytes_of(text));
    }

    void add_group(const std::string& path, const std::string& metadata) {
        out_.add_folder(path);
        add_metadata(path, metadata);
    }

    /// An array in one chunk, as it is in memory.
    template <class T>
    void add_table(const std::string& path, scalar_type type, std::vector<uint64_t> shape,
                   std::vector<std::string> dimensions, const std::vector<T>& values, attribute_list attributes) {
        array_description array{shape, shape, std::move(dimensions), {}, std::move(attributes)};
        array.how.type = type;
        for (uint64_t& extent : array.chunk) extent = std::max<uint64_t>(extent, 1);
        out_.add_folder(path);
        add_metadata(path, array_metadata(array));
        if (values.empty()) return;
        out_.add_file(path + "/" + chunk_name(std::vector<uint64_t>(shape.size(), 0), array.chunk),
                      std::as_bytes(std::span(values)));
    }

    void write_tables() {
        const std::string own = reserved_group;
        add_group(own, group_metadata(job_.data->meshes));
        add_table(own + "/iterations", scalar_type::int64, {job_.iterations.size()}, {"iteration"}, job_.iterations,
                  {});
        if (job_.missing.empty()) return;
        const missing_table missing = missing_of(job_);
        attribute_list attributes = attributes_of_missing();
        attributes.push_back({"variables", missing.variables});
        add_table(own + "/missing", scalar_type::int64, {missing.variables.size(), 4}, {"missing", "column"},
                  missing.rows, std::move(attributes));
    }

    /// The groups of all variables and those around them, each with what is to be said of it.
    void make_groups() {
        std::map<std::string, attribute_list> groups;  // a parent sorts before what is in it
        for (const domain_rows& set : datasets_) {
            const std::string path = node_path(set.var->name);
            for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
                groups.try_emplace(path.substr(0, slash));
            attribute_list& known = groups[path];
            if (known.empty()) known = attributes_of(*job_.data, *set.var);
        }
        for (const auto& [path, attributes] : groups) add_group(path, group_metadata(attributes));
    }

    void write_variable(std::span<const domain_rows> arrays) {
        const dimension_names names(*job_.data, arrays);
        const std::string group = node_path(arrays.front().var->name);
        for (const domain_rows& set : arrays) {
            fit(shape_, job_, set);
            const block_view& block = set.sample();
            const std::string path = group + "/" + domain_name(set.domain, set.variant);
            out_.add_folder(path);
            add_metadata(path,
                         array_metadata({shape_.shape, shape_.chunk, names.of(set), shape_.how,
                                         attributes_of_dataset(block.rank, block.block, block.shape, set.present(),
                                                               static_cast<int64_t>(set.rows.size()))}));
            write_chunks(path, set);
        }
    }

    /// Chunks without any block are left out: readers find the fill value.
    void write_chunks(const std::string& path, const domain_rows& set) {
        if (shape_.empty) return;
        std::vector<uint64_t> origin(shape_.shape.size(), 0);
        do {
            if (shape_.chunk[0] == 1 && set.rows[origin[0]] == nullptr) continue;
            const auto values = cut_chunk(set, shape_.how.type, origin, shape_.chunk, memory_.cut);
            const auto encoded = memory_.encoder.encode(values, shape_.how);
            if (job_.storing != nullptr) job_.storing->next(static_cast<int64_t>(encoded.size()));
            out_.add_file(path + "/" + chunk_name(origin, shape_.chunk), encoded);
        } while (next_chunk(origin, shape_.chunk, shape_.shape));
    }

    void write_index() {
        const std::string own = std::string(reserved_group) + "/index";
        const auto index = index_of(job_, datasets_);
        std::map<std::string, const variable_index*> tables;  // null: a group around others
        for (const variable_index& one : index) {
            const std::string path = "/" + node_path(one.variable);
            for (size_t slash = 0; slash != std::string::npos; slash = path.find('/', slash + 1))
                tables.try_emplace(own + path.substr(0, slash), nullptr);
            tables[own + path] = &one;
        }
        for (const auto& [path, one] : tables) {
            add_group(path, group_metadata(attribute_list()));
            if (one != nullptr)
                add_table(
                    path + "/min_max", scalar_type::float64, {one->rows, one->datasets.size(), 3},
                    {"iteration", "dataset", "column"}, one->table,
                    {{"datasets", one->datasets}, {"columns", std::vector<std::string>{"min", "max", "nan_count"}}});
        }
    }

    const file_job& job_;
    output_folder& out_;
    writer_memory& memory_;
    std::vector<domain_rows> datasets_;
    dataset_shape shape_;
};

}  // namespace

void write_contents(const file_job& job, output_folder& out, writer_memory& memory) {
    folder_writer(job, out, memory).write();
}

}  // namespace halcyon::offload::zarr
