#include "policy/problem.hpp"

#include <algorithm>
#include <bit>

namespace halcyon::policy {

namespace {

/// By how much the members of `set` are slower since the storage of `one` can bear no more; at most 1.
double factor_of(const problem& of, members set, double capacity, uint32_t one, const double* speed) {
    double taken = 0;
    for (members rest = set & of.shares_with[one]; rest != 0; rest &= rest - 1) {
        const auto j = static_cast<uint32_t>(std::countr_zero(rest));
        taken += of.demand[j] * speed[j];
    }
    return taken > capacity ? capacity / taken : 1;
}

/// That their storage can bear.
double capacity_of(const problem& of, members set) {
    double most = of.capacity;
    for (members rest = set; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<uint32_t>(std::countr_zero(rest));
        for (members others = rest & (rest - 1); others != 0; others &= others - 1)
            most = std::max(most, of.borne[i][static_cast<uint32_t>(std::countr_zero(others))]);
    }
    return most;
}

/// From the sums of their slow-downs. `capacity`: capacity_of(set).
void set_speeds(const problem& of, members set, double capacity, const double* slow_down, double* speed) {
    double taken = 0;
    members apart = 0;
    for (members rest = set; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<uint32_t>(std::countr_zero(rest));
        speed[i] = 1 / slow_down[i];
        taken += of.demand[i] * speed[i];
        apart |= set & ~of.shares_with[i];
    }
    if (apart == 0) {
        if (taken <= capacity) return;
        for (members rest = set; rest != 0; rest &= rest - 1)
            speed[static_cast<uint32_t>(std::countr_zero(rest))] *= capacity / taken;
        return;
    }
    problem::values unbounded;
    std::copy_n(speed, of.count, unbounded.begin());
    for (members rest = set; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<uint32_t>(std::countr_zero(rest));
        // A pair on other storage says nothing of its own.
        const double its = capacity > of.capacity ? capacity_of(of, set & of.shares_with[i]) : capacity;
        speed[i] *= factor_of(of, set, its, i, unbounded.data());
    }
}

}  // namespace

members problem::arrived() const {
    members found = 0;
    for (uint32_t i = 0; i < count; ++i) found |= members{arrives_s[i] <= 0} << i;
    return found;
}

void speeds_of(const problem& of, members set, problem::values& speed) {
    problem::values slow_down{};
    double capacity = of.capacity;
    for (members rest = set; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<uint32_t>(std::countr_zero(rest));
        slow_down[i] = 1;
        for (members others = set; others != 0; others &= others - 1) {
            const auto j = static_cast<uint32_t>(std::countr_zero(others));
            slow_down[i] += of.excess[i][j];
            capacity = std::max(capacity, of.borne[i][j]);
        }
    }
    speed.fill(0);
    set_speeds(of, set, capacity, slow_down.data(), speed.data());
}

bool overlap_never_gains(const problem& of) {
    const auto [least, most] = std::minmax_element(of.demand.begin(), of.demand.begin() + of.count);
    if (*most > of.capacity && *least < *most) return false;
    for (uint32_t i = 0; i < of.count; ++i) {
        for (uint32_t j = 0; j < i; ++j) {
            if (of.excess[i][j] * of.excess[j][i] < 1 - 1e-12) return false;
        }
    }
    return true;
}

void speed_table::fill(const problem& of) {
    const size_t sets = size_t{1} << of.count;
    if (speed_.size() < sets * problem::most) {
        speed_.resize(sets * problem::most);
        slow_down_.resize(sets * problem::most);
        capacity_.resize(sets);
    }
    std::fill_n(speed_.begin(), sets * problem::most, 0.0);
    std::fill_n(slow_down_.begin(), problem::most, 1.0);
    capacity_[0] = of.capacity;
    for (members set = 1; set < sets; ++set) {
        // The same set without its last member is known.
        const auto last = static_cast<uint32_t>(std::bit_width(set)) - 1;
        const double* const before = &slow_down_[size_t{set ^ members{1} << last} * problem::most];
        double* const slow_down = &slow_down_[size_t{set} * problem::most];
        double capacity = capacity_[set ^ members{1} << last];
        for (uint32_t i = 0; i < of.count; ++i) {
            slow_down[i] = before[i] + of.excess[i][last];
            if ((set >> i & 1) != 0) capacity = std::max(capacity, of.borne[i][last]);
        }
        capacity_[set] = capacity;
        set_speeds(of, set, capacity, slow_down, &speed_[size_t{set} * problem::most]);
    }
}

}  // namespace halcyon::policy
