#include "policy/rollout.hpp"

namespace halcyon::policy {

namespace {

uint32_t first_of(members set) {
    return static_cast<uint32_t>(std::countr_zero(set));
}

double density(const problem& of, const speed_table& speeds, members set, const problem::values& left_s) {
    const double* const speed = speeds.of(set);
    double sum = 0;
    for (members rest = set; rest != 0; rest &= rest - 1) {
        const uint32_t i = first_of(rest);
        sum += of.cost_per_s[i] / left_s[i] * speed[i];
    }
    return sum;
}

}  // namespace

members densest(const problem& of, const speed_table& speeds, members here, const problem::values& left_s) {
    members chosen = 0;
    double best = -1;
    for (;;) {
        members better = 0;
        for (members rest = here & ~chosen; rest != 0; rest &= rest - 1) {
            const members with = chosen | (rest & ~(rest - 1));
            const double its = density(of, speeds, with, left_s);
            if (its <= best * (1 + 1e-12)) continue;
            best = its;
            better = with;
        }
        if (better == 0) return chosen;
        chosen = better;
    }
}

members by_smith(const problem& of, members here, const problem::values& left_s) {
    members chosen = 0;
    while (here != 0) {
        uint32_t best = first_of(here);
        for (members rest = here & (here - 1); rest != 0; rest &= rest - 1) {
            const uint32_t i = first_of(rest);
            const double mine = of.cost_per_s[i] * left_s[best];
            const double its = of.cost_per_s[best] * left_s[i];
            const bool tie_moves = mine == its && (of.moving >> i & 1) != 0 && (of.moving >> best & 1) == 0;
            if (mine > its || tie_moves) best = i;
        }
        chosen |= members{1} << best;
        here &= ~of.shares_with[best];
    }
    return chosen;
}

members in_order(const problem& of, members here, bool latest_first) {
    members chosen = 0;
    while (here != 0) {
        const uint32_t i = latest_first ? static_cast<uint32_t>(std::bit_width(here)) - 1 : first_of(here);
        chosen |= members{1} << i;
        here &= ~of.shares_with[i];
    }
    return chosen;
}

}  // namespace halcyon::policy
