#include "offload/store/shared_plan.hpp"

#include <algorithm>
#include <tuple>

#include "offload/model/boxes.hpp"

namespace halcyon::offload {
namespace {

/// The interior of a block in the whole, in one row.
struct placed_box {
    int64_t row = 0;
    box place;
};

/// True when the boxes fill `rows` rows of `whole` and no element twice. They lie inside it.
bool tile(std::vector<placed_box> boxes, const extents& whole, int64_t rows) {
    std::erase_if(boxes, [](const placed_box& b) { return b.place.count.count() == 0; });
    int64_t volume = 0;
    for (const placed_box& b : boxes) volume += b.place.count.count();
    if (volume != rows * whole.count()) return false;
    std::stable_sort(boxes.begin(), boxes.end(),
                     [](const placed_box& a, const placed_box& b) { return a.row < b.row; });
    std::vector<box> of_row;
    for (size_t i = 0; i < boxes.size(); ++i) {
        of_row.push_back(boxes[i].place);
        if (i + 1 < boxes.size() && boxes[i + 1].row == boxes[i].row) continue;
        if (find_overlap(of_row)) return false;
        of_row.clear();
    }
    return true;
}

extents zeros(const extents& like) {
    extents e;
    for (int d = 0; d < like.rank; ++d) e.push_back(0);
    return e;
}

/// The shape of a row of the dataset that `b` goes into: its own, or the whole.
block_shape row_shape(const shared_block& b, bool placed) {
    if (!placed) return b.shape;
    block_shape s;
    s.dimensions = s.global = b.shape.global;
    s.offset = s.ghost_before = s.ghost_after = zeros(b.shape.global);
    return s;
}

class planner {
  public:
    planner(const model& data, std::span<const int64_t> iterations) : data_(data), iterations_(iterations) {}

    shared_plan make(std::vector<shared_block> blocks) {
        std::sort(blocks.begin(), blocks.end(),
                  [this](const shared_block& a, const shared_block& b) { return order_of(a) < order_of(b); });
        for (const shared_block& b : blocks) add(b);
        for (size_t i = 0; i < plan_.datasets.size(); ++i) complete(i);
        return std::move(plan_);
    }

  private:
    const variable& of(const shared_block& b) const { return data_.variables.at(b.variable_id); }
    int64_t domain_of(const shared_block& b) const {
        const variable& v = of(b);
        return v.place_id ? shared_dataset::whole : int64_t{b.rank} * v.blocks_per_client + b.block;
    }
    std::tuple<uint32_t, int64_t, int64_t, int32_t, int64_t> order_of(const shared_block& b) const {
        return {b.variable_id, domain_of(b), b.iteration, b.server, b.index};
    }

    void add(const shared_block& b) {
        const variable& v = of(b);
        const int64_t domain = domain_of(b);
        auto& sets = plan_.datasets;
        if (sets.empty() || sets.back().variable_id != b.variable_id || sets.back().domain != domain)
            first_of_domain_ = sets.size();
        const bool placed = domain == shared_dataset::whole;
        const block_shape shape = row_shape(b, placed);
        size_t at = first_of_domain_;
        while (at < sets.size() && !same_place(sets[at].shape, shape)) ++at;
        if (at == sets.size()) {
            shared_dataset d;
            d.variable_id = b.variable_id;
            d.domain = domain;
            d.variant = static_cast<int>(at - first_of_domain_);
            if (!placed) d.rank = b.rank;
            if (!placed) d.block = b.block;
            d.shape = shape;
            d.row_count = v.time_varying ? static_cast<int64_t>(iterations_.size()) : 1;
            sets.push_back(std::move(d));
            plan_.parts.emplace_back();
            boxes_.emplace_back();
        }
        int64_t row = 0;
        if (v.time_varying)
            row = std::lower_bound(iterations_.begin(), iterations_.end(), b.iteration) - iterations_.begin();
        sets[at].rows.push_back(row);
        plan_.parts[at].push_back({b.server, b.index, row});
        if (!placed) return;
        boxes_[at].push_back({row, {b.shape.offset, b.shape.interior()}});
    }

    void complete(size_t at) {
        shared_dataset& d = plan_.datasets[at];
        std::sort(d.rows.begin(), d.rows.end());
        d.rows.erase(std::unique(d.rows.begin(), d.rows.end()), d.rows.end());
        const bool all_rows = static_cast<int64_t>(d.rows.size()) == d.row_count;
        d.covered =
            all_rows && (d.domain != shared_dataset::whole || tile(std::move(boxes_[at]), d.shape.global, d.row_count));
        std::sort(plan_.parts[at].begin(), plan_.parts[at].end(),
                  [](const shared_plan::part& a, const shared_plan::part& b) {
                      return std::tuple(a.server, a.row, a.index) < std::tuple(b.server, b.row, b.index);
                  });
    }

    const model& data_;
    std::span<const int64_t> iterations_;
    shared_plan plan_;
    std::vector<std::vector<placed_box>> boxes_;  ///< of placed variables, parallel to the datasets
    size_t first_of_domain_ = 0;
};

}  // namespace

shared_plan plan_shared_file(const model& data, std::span<const int64_t> iterations, std::vector<shared_block> blocks) {
    return planner(data, iterations).make(std::move(blocks));
}

}  // namespace halcyon::offload
