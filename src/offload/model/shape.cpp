#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "offload/model/model.hpp"

namespace halcyon::offload {
namespace {

constexpr int64_t most_bytes = int64_t{1} << 62;

/// Value of the i-th name of `e`, by slot where the model bound it, by name otherwise.
std::optional<double> value_of(const model& m, const block_owner& owner, const expression& e, size_t i) {
    const auto built_in = [&](unsigned slot) -> double {
        return slot == 0 ? owner.rank : slot == 1 ? owner.size : owner.block;
    };
    if (!e.slots().empty()) {
        const uint16_t slot = e.slots()[i];
        if (slot < model::first_parameter_slot) return built_in(slot);
        return m.parameters[slot - model::first_parameter_slot].value;
    }
    const std::string& name = e.names()[i];
    if (name == "rank") return built_in(0);
    if (name == "size") return built_in(1);
    if (name == "block") return built_in(2);
    for (const parameter& p : m.parameters)
        if (p.name == name) return p.value;
    return std::nullopt;
}

/// The mutable parameter behind the i-th name; null when the name stands for something fixed.
const parameter* mutable_behind(const model& m, const expression& e, size_t i) {
    for (const parameter& p : m.parameters)
        if (p.is_mutable && p.name == e.names()[i]) return &p;
    return nullptr;
}

/// Evaluates the expressions of one block. The first failure is kept, later calls then return 0: the hot path tests
/// once at the end instead of at each step.
class block_evaluator {
  public:
    block_evaluator(const model& m, const variable& v, const block_owner& owner)
        : model_(m), variable_(v), owner_(owner) {}

    int64_t integer(const expression& e, const std::string& where, const char* part, int index) {
        if (failure_) return 0;
        std::array<double, expression::max_names> values;
        for (size_t i = 0; i < e.names().size(); ++i) {
            const auto value = value_of(model_, owner_, e, i);
            if (!value) return fail(where, part, index, "no value for '" + e.names()[i] + "'"), 0;
            values[i] = *value;
        }
        const auto out = e.evaluate_integer(std::span<const double>(values));
        if (out) return *out;
        fail(where, part, index, out.why().message);
        return 0;
    }

    int64_t not_negative(const expression& e, const std::string& where, const char* part, int index) {
        const int64_t out = integer(e, where, part, index);
        if (out >= 0) return out;
        fail(where, part, index, "'" + e.text() + "' is " + std::to_string(out) + "; expected 0 or more");
        return 0;
    }

    void fail(const std::string& where, const char* part, int index, const std::string& what) {
        if (failure_) return;
        std::string message = where + part;
        if (index >= 0) message += "[" + std::to_string(index) + "]";
        message += ": " + what + " (variable '" + variable_.name + "', rank " + std::to_string(owner_.rank) + " of " +
                   std::to_string(owner_.size) + ", block " + std::to_string(owner_.block) + ")";
        failure_ = failure{error_kind::config, std::move(message), 0};
    }

    [[nodiscard]] const std::optional<failure>& why() const { return failure_; }

  private:
    const model& model_;
    const variable& variable_;
    const block_owner& owner_;
    std::optional<failure> failure_;
};

/// Bytes of an array; nullopt beyond 2^62.
std::optional<int64_t> bytes_of(const extents& shape, scalar_type type) {
    int64_t bytes = size_of(type);
    for (int64_t n : shape.span())
        if (n == 0) return 0;
    for (int64_t n : shape.span()) {
        if (__builtin_mul_overflow(bytes, n, &bytes) || bytes > most_bytes) return std::nullopt;
    }
    return bytes;
}

void evaluate_place(const place& where_to, block_evaluator& evaluate, block_shape& out) {
    const std::string& where = where_to.where;
    const int rank = out.dimensions.rank;
    if (static_cast<int>(where_to.global.size()) != rank || static_cast<int>(where_to.offset.size()) != rank ||
        (!where_to.ghost.empty() && static_cast<int>(where_to.ghost.size()) != rank)) {
        return evaluate.fail(where, "", -1, "the place and the layout differ in their number of dimensions");
    }
    for (int i = 0; i < rank; ++i) {
        out.global.push_back(evaluate.not_negative(where_to.global[i], where, ".global", i));
        out.offset.push_back(evaluate.not_negative(where_to.offset[i], where, ".offset", i));
        int64_t before = 0;
        int64_t after = 0;
        if (!where_to.ghost.empty()) {
            before = evaluate.not_negative(where_to.ghost[i].before, where, ".ghost", i);
            after = evaluate.not_negative(where_to.ghost[i].after, where, ".ghost", i);
        }
        out.ghost_before.push_back(before);
        out.ghost_after.push_back(after);
        if (evaluate.why()) return;
        // All are within 2^53, so the sums below cannot overflow.
        const int64_t interior = out.dimensions[i] - before - after;
        if (interior < 0) {
            return evaluate.fail(where, ".ghost", i,
                                 "the ghost layers (" + std::to_string(before) + " and " + std::to_string(after) +
                                     ") are wider than the block (" + std::to_string(out.dimensions[i]) + ")");
        }
        if (out.offset[i] + interior > out.global[i]) {
            return evaluate.fail(where, ".offset", i,
                                 "the block's interior, " + std::to_string(out.offset[i]) + " … " +
                                     std::to_string(out.offset[i] + interior) + ", leaves the whole of " +
                                     std::to_string(out.global[i]));
        }
    }
}

}  // namespace

result<block_shape> shape_of(const model& m, const variable& v, const block_owner& owner) {
    const layout& l = m.layouts[v.layout_id];
    block_evaluator evaluate(m, v, owner);
    block_shape out;
    for (size_t i = 0; i < l.dimensions.size(); ++i) {
        out.dimensions.push_back(evaluate.not_negative(l.dimensions[i], l.where, ".dimensions", static_cast<int>(i)));
    }
    if (evaluate.why()) return *evaluate.why();
    if (v.place_id) {
        evaluate_place(m.places[*v.place_id], evaluate, out);
        if (evaluate.why()) return *evaluate.why();
        if (!bytes_of(out.global, l.type)) {
            evaluate.fail(m.places[*v.place_id].where, ".global", -1, "the whole array has more than 2^62 bytes");
            return *evaluate.why();
        }
    } else {
        out.global = out.dimensions;
        out.offset.rank = out.ghost_before.rank = out.ghost_after.rank = out.dimensions.rank;
    }
    const auto bytes = bytes_of(out.dimensions, l.type);
    if (!bytes) {
        evaluate.fail(l.where, ".dimensions", -1, "the block has more than 2^62 bytes");
        return *evaluate.why();
    }
    out.bytes = *bytes;
    return out;
}

bool keeps_place(const model& m, const variable& v) {
    const auto fixed = [&m](const expression& e) {
        for (size_t i = 0; i < e.names().size(); ++i)
            if (mutable_behind(m, e, i) != nullptr) return false;
        return true;
    };
    const auto& dimensions = m.layouts[v.layout_id].dimensions;
    if (!std::all_of(dimensions.begin(), dimensions.end(), fixed)) return false;
    if (!v.place_id) return true;
    const place& p = m.places[*v.place_id];
    return std::all_of(p.global.begin(), p.global.end(), fixed) &&
           std::all_of(p.offset.begin(), p.offset.end(), fixed) &&
           std::all_of(p.ghost.begin(), p.ghost.end(),
                       [&](const place::ghost_width& g) { return fixed(g.before) && fixed(g.after); });
}

std::optional<int64_t> largest_bytes(const model& m, const variable& v, const block_owner& owner) {
    const layout& l = m.layouts[v.layout_id];
    extents largest;
    for (const expression& e : l.dimensions) {
        std::array<interval, expression::max_names> values;
        for (size_t i = 0; i < e.names().size(); ++i) {
            if (const parameter* p = mutable_behind(m, e, i)) {
                if (!p->max) return std::nullopt;
                values[i] = {p->min, *p->max};
            } else {
                const auto value = value_of(m, owner, e, i);
                if (!value) return std::nullopt;
                values[i] = {*value, *value};
            }
        }
        const auto range = e.range(std::span<const interval>(values));
        if (!range || range->high > 9007199254740992.0) return std::nullopt;
        largest.push_back(range->high < 0 ? 0 : static_cast<int64_t>(std::floor(range->high)));
    }
    return bytes_of(largest, l.type);
}

}  // namespace halcyon::offload
