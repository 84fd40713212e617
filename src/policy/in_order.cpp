// Rules that ask only when each application arrived: interfere, fcfs, interrupt.
#include "policy/contender.hpp"

namespace halcyon::policy {

void turns::clear(double at_the_latest_s) {
    let_nobody_move();
    why = reason::alone;
    until_s = at_the_latest_s;
}

void turns::let_nobody_move() {
    movers.clear();
    taken_.clear();
    looked_at_ = 0;
}

bool turns::add_if_apart(const group& of, uint32_t one) {
    for (; looked_at_ < movers.size(); ++looked_at_) taken_.add(of.present[movers[looked_at_]].of->targets);
    const bool apart = taken_.group_at(of.present[one].of->targets) == target_groups::nobody;
    if (apart) movers.push_back(one);
    return apart;
}

std::span<const char> turns::moves(size_t present) {
    moves_.assign(present, 0);
    for (const uint32_t one : movers) moves_[one] = 1;
    return moves_;
}

void choose_all(const group& of, turns& into) {
    for (uint32_t i = 0; i < of.present.size(); ++i) into.movers.push_back(i);
    into.why = reason::all_interfere;
}

void choose_first(const group& of, turns& into) {
    for (uint32_t i = 0; i < of.present.size(); ++i) into.add_if_apart(of, i);
    into.why = reason::first_come;
}

void choose_newest(const group& of, turns& into) {
    for (auto i = static_cast<uint32_t>(of.present.size()); i-- > 0;) into.add_if_apart(of, i);
    into.why = reason::newest;
}

}  // namespace halcyon::policy
