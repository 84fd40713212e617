#include "offload/check/whole_coverage.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "offload/model/boxes.hpp"

namespace halcyon::offload {
namespace {

/// The interiors of all blocks of a variable, each box once, with the first block that has it.
struct placed_blocks {
    extents whole;
    bool same_whole = true;  ///< all blocks agree on the whole
    std::vector<box> boxes;
    std::vector<block_owner> owners;
    struct twin {
        size_t box;  ///< index
        block_owner other;
    };
    std::optional<twin> twin;  ///< the first box that two blocks have
};

std::vector<int64_t> key_of(const box& b) {
    std::vector<int64_t> key(b.start.span().begin(), b.start.span().end());
    key.insert(key.end(), b.count.span().begin(), b.count.span().end());
    return key;
}

result<placed_blocks> blocks_of(const model& m, const variable& v, int ranks) {
    placed_blocks found;
    std::map<std::vector<int64_t>, size_t> known;
    for (int rank = 0; rank < ranks; ++rank)
        for (int block = 0; block < v.blocks_per_client; ++block) {
            const block_owner owner{rank, ranks, block};
            const auto shape = shape_of(m, v, owner);
            if (!shape) return shape.why();
            if (rank == 0 && block == 0) found.whole = shape->global;
            found.same_whole = found.same_whole && shape->global == found.whole;
            const box b{shape->offset, shape->interior()};
            if (b.count.count() == 0) continue;
            const auto [first, fresh] = known.emplace(key_of(b), found.boxes.size());
            if (!fresh) {
                if (!found.twin) found.twin = {first->second, owner};
                continue;
            }
            found.boxes.push_back(b);
            found.owners.push_back(owner);
        }
    return found;
}

/// `[0:4, 8:16]`, the end not included.
std::string text_of(const box& b) {
    std::string text = "[";
    for (int d = 0; d < b.start.rank; ++d)
        text += (d > 0 ? ", " : "") + std::to_string(b.start[d]) + ":" + std::to_string(b.start[d] + b.count[d]);
    return text + "]";
}

std::string text_of(const block_owner& owner, const variable& v) {
    return "rank " + std::to_string(owner.rank) +
           (v.blocks_per_client > 1 ? " block " + std::to_string(owner.block) : "");
}

/// "variable 'theta'", "variables 'theta' and 'qv'", "variables 'theta', 'qv' and 3 more".
std::string text_of(const std::vector<const variable*>& variables) {
    std::string text = (variables.size() == 1 ? "variable '" : "variables '") + variables[0]->name + "'";
    if (variables.size() == 2) return text + " and '" + variables[1]->name + "'";
    if (variables.size() > 2)
        text += ", '" + variables[1]->name + "' and " + std::to_string(variables.size() - 2) + " more";
    return text;
}

/// What no block covers.
uncovered_part find_holes(const placed_blocks& blocks, bool overlapping) {
    int64_t volume = 0;
    for (const box& b : blocks.boxes) volume += b.count.count();
    if (!overlapping && volume == blocks.whole.count()) return {};
    box all{blocks.whole, blocks.whole};
    all.start.values.fill(0);
    return find_uncovered(all, blocks.boxes);
}

/// What is wrong with the blocks of `variables`, which share place and layout; "" when nothing is.
std::string describe(const place& where, const std::vector<const variable*>& variables, const placed_blocks& blocks) {
    if (!blocks.same_whole)
        return where.where + ".global: the whole of " + text_of(variables) + " is not the same for all ranks";
    std::string wrong;
    const auto twice = find_overlap(blocks.boxes);
    if (twice) {
        const auto [a, b] = *twice;
        wrong = "; " + text_of(blocks.owners[a], *variables[0]) + " has " + text_of(blocks.boxes[a]) + " and " +
                text_of(blocks.owners[b], *variables[0]) + " has " + text_of(blocks.boxes[b]) +
                ": they overlap, and which of them readers find there is not defined";
    }
    // Coordinates are the same wherever they are written; results are not.
    const bool varies =
        std::any_of(variables.begin(), variables.end(), [](const variable* v) { return v->time_varying; });
    if (!twice && blocks.twin && varies)
        wrong = "; " + text_of(blocks.owners[blocks.twin->box], *variables[0]) + " and " +
                text_of(blocks.twin->other, *variables[0]) + " both have " + text_of(blocks.boxes[blocks.twin->box]) +
                ", and which of them readers find there is not defined";
    if (const uncovered_part left = find_holes(blocks, twice.has_value()); left.elements > 0)
        wrong += "; no rank covers " + std::to_string(left.elements) + " of its elements, " + text_of(left.large) +
                 " among them, where readers find fill";
    if (wrong.empty()) return "";
    std::string shape;
    for (const int64_t n : blocks.whole.span()) shape += (shape.empty() ? "" : " x ") + std::to_string(n);
    return where.where + ": " + text_of(variables) + ", a whole of " + shape + wrong;
}

}  // namespace

result<std::vector<std::string>> uneven_wholes(const model& m, int ranks) {
    std::map<std::tuple<uint32_t, uint32_t, int>, std::vector<const variable*>> alike;
    for (const variable& v : m.variables)
        if (v.place_id && keeps_place(m, v)) alike[{*v.place_id, v.layout_id, v.blocks_per_client}].push_back(&v);
    std::vector<std::string> messages;
    for (const auto& [key, variables] : alike) {
        const auto blocks = blocks_of(m, *variables.front(), ranks);
        if (!blocks) return blocks.why();
        std::string message = describe(m.places[std::get<0>(key)], variables, *blocks);
        if (!message.empty()) messages.push_back(std::move(message));
    }
    return messages;
}

}  // namespace halcyon::offload
