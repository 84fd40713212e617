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

/// Places of a file by address, so that whether anything of another one is taken needs no look at each of them.
class taken_places {
  public:
    explicit taken_places(std::vector<output_file::extent> places) {
        std::sort(places.begin(), places.end(),
                  [](const output_file::extent& a, const output_file::extent& b) { return a.address < b.address; });
        uint64_t end = 0;
        for (const output_file::extent& place : places) {
            begins_.push_back(place.address);
            ends_.push_back(end = std::max(end, place.address + place.bytes));
        }
    }
    [[nodiscard]] bool overlap(const output_file::extent& place) const {
        const auto behind = std::lower_bound(begins_.begin(), begins_.end(), place.address + place.bytes);
        return behind != begins_.begin() && ends_[static_cast<size_t>(behind - begins_.begin()) - 1] > place.address;
    }

  private:
    std::vector<uint64_t> begins_;
    std::vector<uint64_t> ends_;  ///< the last end of the places up to each
};

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

void value_places::note(const output_file& out, size_t before, size_t bytes) {
    known_ = known_ && out.data().size() == before + 1 && out.data()[before].bytes == bytes;
    if (known_)
        pieces_.push_back(before);
    else
        pieces_.clear();
}

file_pattern pattern_of(std::string description, output_file& out, const value_places& values) {
    if (values.pieces().empty()) return {};
    file_pattern pattern{std::move(description), {}, out.metadata(), out.size()};
    std::vector<output_file::extent> texts;
    auto next = values.pieces().begin();
    for (size_t i = 0; i < out.data().size(); ++i) {
        const bool is_value = next != values.pieces().end() && *next == i;
        (is_value ? pattern.values : texts).push_back(out.data()[i]);
        if (is_value) ++next;
    }
    const taken_places taken(pattern.values);
    for (const output_file::extent& text : texts) {
        // A place that HDF5 used first for texts and then for a value would be overwritten.
        if (taken.overlap(text)) return {};
        std::vector<std::byte>& bytes = pattern.metadata[text.address];
        bytes.resize(std::max(bytes.size(), text.bytes));
        out.read(text.address, std::span(bytes).first(text.bytes));
    }
    return pattern;
}

}  // namespace halcyon::offload::hdf5
