#include "offload/store/contents/domain_rows.hpp"

#include <algorithm>
#include <cstring>

#include "offload/store/contents/fill_value.hpp"

namespace halcyon::offload {
namespace {

size_t row_of(const file_job& job, const block_view& block) {
    const auto at = std::find(job.iterations.begin(), job.iterations.end(), block.iteration);
    if (at == job.iterations.end()) {
        throw error(error_kind::usage, job.path + ": a block of '" + block.var->name + "' is of iteration " +
                                           std::to_string(block.iteration) + ", which is not one of the file's");
    }
    return block.var->time_varying ? static_cast<size_t>(at - job.iterations.begin()) : 0;
}

void check_bytes(const file_job& job, const block_view& block) {
    const int64_t expected = block.shape.dimensions.count() * size_of(job.data->layouts.at(block.var->layout_id).type);
    if (static_cast<int64_t>(block.data.size()) == expected) return;
    throw error(error_kind::usage, job.path + ": a block of '" + block.var->name + "' has " +
                                       std::to_string(block.data.size()) + " bytes, its shape says " +
                                       std::to_string(expected));
}

/// Copies an n-dimensional box between two C-ordered arrays. `from` and `to` point at the box's corner in each.
void copy_box(const std::byte* from, std::byte* to, std::span<const uint64_t> box, std::span<const uint64_t> from_shape,
              std::span<const uint64_t> to_shape, size_t element) {
    if (box.empty()) {
        std::memcpy(to, from, element);
        return;
    }
    if (box.size() == 1) {
        std::memcpy(to, from, box[0] * element);
        return;
    }
    size_t from_step = element;
    size_t to_step = element;
    for (size_t d = 1; d < box.size(); ++d) {
        from_step *= from_shape[d];
        to_step *= to_shape[d];
    }
    for (uint64_t i = 0; i < box[0]; ++i) {
        copy_box(from + i * from_step, to + i * to_step, box.subspan(1), from_shape.subspan(1), to_shape.subspan(1),
                 element);
    }
}

/// True when a box of shape `box` in an array of shape `whole` is one piece of memory: full extents behind the first
/// dimension that is neither 1 nor full.
bool is_one_piece(std::span<const uint64_t> box, std::span<const uint64_t> whole) {
    size_t d = 0;
    while (d < box.size() && box[d] == 1) ++d;
    for (++d; d < box.size(); ++d) {
        if (box[d] != whole[d]) return false;
    }
    return true;
}

}  // namespace

const block_view& domain_rows::sample() const {
    return **std::find_if(rows.begin(), rows.end(), [](const block_view* b) { return b != nullptr; });
}

std::vector<int64_t> domain_rows::present() const {
    std::vector<int64_t> list;
    for (size_t row = 0; row < rows.size(); ++row) {
        if (rows[row] != nullptr) list.push_back(static_cast<int64_t>(row));
    }
    return list;
}

std::vector<domain_rows> sort_into_datasets(const file_job& job) {
    std::vector<const block_view*> order;
    order.reserve(job.blocks.size());
    for (const block_view& block : job.blocks) {
        check_bytes(job, block);
        order.push_back(&block);
    }
    std::stable_sort(order.begin(), order.end(), [](const block_view* a, const block_view* b) {
        return a->var->id != b->var->id ? a->var->id < b->var->id : a->domain() < b->domain();
    });
    std::vector<domain_rows> sets;
    size_t first_of_domain = 0;
    for (const block_view* block : order) {
        if (sets.empty() || sets.back().var != block->var || sets.back().domain != block->domain()) {
            first_of_domain = sets.size();
        }
        const size_t row = row_of(job, *block);
        size_t at = first_of_domain;
        while (at < sets.size() && !same_place(sets[at].sample().shape, block->shape)) ++at;
        if (at == sets.size()) {
            const size_t rows = block->var->time_varying ? job.iterations.size() : 1;
            sets.push_back({block->var, block->domain(), static_cast<int>(at - first_of_domain),
                            std::vector<const block_view*>(rows, nullptr)});
        }
        sets[at].rows[row] = block;
    }
    return sets;
}

std::span<const std::byte> cut_chunk(const domain_rows& source, scalar_type type, std::span<const uint64_t> origin,
                                     std::span<const uint64_t> chunk, scratch& buffer) {
    const auto element = static_cast<size_t>(size_of(type));
    const extents& dimensions = source.sample().shape.dimensions;
    const std::vector<uint64_t> whole(dimensions.span().begin(), dimensions.span().end());
    const std::span<const uint64_t> cell = chunk.subspan(1);
    std::vector<uint64_t> box;
    size_t skipped = 0;
    size_t cell_bytes = element;
    bool inside = true;
    for (size_t d = 0; d < cell.size(); ++d) {
        const uint64_t begin = origin[d + 1];
        box.push_back(std::min(cell[d], whole[d] - begin));
        inside = inside && box[d] == cell[d];
        skipped = skipped * whole[d] + begin;
        cell_bytes *= cell[d];
    }
    skipped *= element;
    const auto row_at = [&](uint64_t r) {
        return r < source.rows.size() ? source.rows[static_cast<size_t>(r)] : nullptr;
    };
    if (chunk[0] == 1 && inside && row_at(origin[0]) != nullptr && is_one_piece(box, whole)) {
        return row_at(origin[0])->data.subspan(skipped, cell_bytes);
    }
    const std::span<std::byte> out = buffer.take(cell_bytes * chunk[0]);
    const std::vector<std::byte> fill = fill_value(type);
    for (uint64_t r = 0; r < chunk[0]; ++r) {
        const block_view* block = row_at(origin[0] + r);
        std::byte* const cell_out = out.data() + r * cell_bytes;
        if (!inside || block == nullptr) {
            for (size_t at = 0; at < cell_bytes; at += element) std::memcpy(cell_out + at, fill.data(), element);
        }
        if (block != nullptr) copy_box(block->data.data() + skipped, cell_out, box, whole, cell, element);
    }
    return out;
}

}  // namespace halcyon::offload
