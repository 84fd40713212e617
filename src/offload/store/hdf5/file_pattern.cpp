#include "offload/store/hdf5/file_pattern.hpp"

#include <algorithm>

#include "offload/store/hdf5/file_description.hpp"

namespace halcyon::offload::hdf5 {
namespace {

/// Texts and numbers in a row; equal rows were made of equal parts, as each tells its length.
class row_of_parts {
  public:
    void add(int64_t number) { row_.append(reinterpret_cast<const char*>(&number), sizeof number); }
    void add(const std::string& text) {
        add(static_cast<int64_t>(text.size()));
        row_ += text;
    }
    template <class T>
    void add(const std::vector<T>& parts) {
        add(static_cast<int64_t>(parts.size()));
        for (const T& part : parts) add(part);
    }
    void add(const attribute& a) {
        add(std::string(a.name));
        add(static_cast<int64_t>(a.value.index()));
        std::visit([this](const auto& value) { add(value); }, a.value);
    }
    [[nodiscard]] std::string take() { return std::move(row_); }

  private:
    std::string row_;
};

/// Filters make chunks whose sizes depend on the values.
bool is_repeatable(const file_job& job, const std::vector<domain_rows>& datasets) {
    if (!job.missing.empty() || !job.unfinished.empty() || job.target->index || job.target->checksum) return false;
    return std::all_of(datasets.begin(), datasets.end(), [&](const domain_rows& set) {
        const scalar_type type = job.data->layouts.at(set.var->layout_id).type;
        const bool filtered = encoding::of(*set.var, type, job.compress, false).method != compression::none;
        return !filtered && std::find(set.rows.begin(), set.rows.end(), nullptr) == set.rows.end();
    });
}

}  // namespace

std::string description_of(const file_job& job, const std::vector<domain_rows>& datasets) {
    if (!is_repeatable(job, datasets)) return {};
    row_of_parts parts;
    parts.add(attributes_of(job));
    parts.add(static_cast<int64_t>(job.iterations.size()));
    parts.add(static_cast<int64_t>(job.target->expected_reader));
    for (const mesh& m : job.data->meshes) parts.add(attributes_of(m));
    const variable* last = nullptr;
    for (const domain_rows& set : datasets) {
        if (set.var != last) {
            parts.add(set.var->name);
            parts.add(attributes_of(*job.data, *set.var));
        }
        last = set.var;
        const block_view& block = set.sample();
        parts.add(set.domain);
        parts.add(set.variant);
        parts.add(std::vector<int64_t>(block.shape.dimensions.span().begin(), block.shape.dimensions.span().end()));
        parts.add(attributes_of_dataset(block.rank, block.block, block.shape, {}, 0));
    }
    return parts.take();
}

file_pattern pattern_of(std::string description, output_file& out, const std::vector<size_t>& expected) {
    const std::vector<output_file::extent>& data = out.data();
    if (data.size() < expected.size()) return {};
    const auto rest = data.begin() + static_cast<std::ptrdiff_t>(expected.size());
    const bool as_expected = std::equal(data.begin(), rest, expected.begin(),
                                        [](const output_file::extent& e, size_t bytes) { return e.bytes == bytes; });
    if (!as_expected) return {};
    file_pattern pattern{std::move(description), {data.begin(), rest}, out.metadata(), out.size()};
    // HDF5 writes the texts of attributes as data, at the end.
    for (auto text = rest; text != data.end(); ++text) {
        for (const output_file::extent& value : pattern.values)
            if (value.address < text->address + text->bytes && text->address < value.address + value.bytes) return {};
        std::vector<std::byte>& bytes = pattern.metadata[text->address];
        bytes.resize(text->bytes);
        out.read(text->address, bytes);
    }
    return pattern;
}

}  // namespace halcyon::offload::hdf5
