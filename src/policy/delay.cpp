// The rule delay: first come, first served, with as much overlap as those that came first tolerate (Dorier 2014, end of
// section 6.3.4, figure 6.15).
#include <algorithm>
#include <array>
#include <bit>

#include "policy/contender.hpp"
#include "policy/problem_of.hpp"
#include "policy/sound_values.hpp"

namespace halcyon::policy {

namespace {

/// Those that move, and one that would like to join them.
class joining {
  public:
    joining(const group& of, const circumstances& in)
        : of_(of), in_(in), build_(movers_, in.of->learned, in.of->unseen_share, in.now_s) {}

    void add(uint32_t one) {
        const contender& it = of_.present[one];
        const double waited_s =
            it.moving ? sound::or_else(it.of->waited_s, 0) : std::max(in_.now_s - it.arrived_s, 0.0);
        moved_s_[movers_.count] = std::max(in_.now_s - it.arrived_s - waited_s, 0.0);
        alone_s_[movers_.count] = sound::alone_s(*it.of);
        build_.add(it);
    }
    void remove_last() { build_.remove_last(); }
    [[nodiscard]] bool full() const { return movers_.count == problem::most; }

    /// Whether all but the last one added tolerate the last one, if it joins them `after_s` from now.
    [[nodiscard]] bool tolerated(double after_s) const {
        const members old = movers_.all() >> 1U;
        problem::values left_s = movers_.left_s;
        double at_s = 0;
        members unfinished = old;
        go(unfinished, left_s, at_s, after_s);
        unfinished |= movers_.all() & ~old;
        while ((unfinished & old) != 0) {
            const members ended = go(unfinished, left_s, at_s, sound::longest_s * 1e3);
            for (members rest = ended & old; rest != 0; rest &= rest - 1) {
                const auto i = static_cast<uint32_t>(std::countr_zero(rest));
                if (moved_s_[i] + at_s > in_.how.tolerated_factor * alone_s_[i] * (1 + 1e-9)) return false;
            }
            if (ended == 0) return false;
        }
        return true;
    }

    /// The least delay, from now, that is tolerated: at most until the first of the movers ends.
    [[nodiscard]] double least_delay_s() const {
        problem::values speed{};
        const members old = movers_.all() >> 1U;
        speeds_of(movers_, old, speed);
        double late_s = sound::longest_s;
        for (uint32_t i = 0; i + 1 < movers_.count; ++i) late_s = std::min(late_s, movers_.left_s[i] / speed[i]);
        double early_s = 0;
        for (int i = 0; i < 40; ++i) {
            const double between_s = (early_s + late_s) / 2;
            (tolerated(between_s) ? late_s : early_s) = between_s;
        }
        return late_s;
    }

  private:
    /// Moves `unfinished` until the first of them ends or `until_s` comes. Returns those that ended.
    members go(members& unfinished, problem::values& left_s, double& at_s, double until_s) const {
        problem::values speed{};
        speeds_of(movers_, unfinished, speed);
        double took_s = std::max(until_s - at_s, 0.0);
        for (members rest = unfinished; rest != 0; rest &= rest - 1) {
            const auto i = static_cast<uint32_t>(std::countr_zero(rest));
            took_s = std::min(took_s, left_s[i] / speed[i]);
        }
        members ended = 0;
        for (members rest = unfinished; rest != 0; rest &= rest - 1) {
            const auto i = static_cast<uint32_t>(std::countr_zero(rest));
            const double before_s = left_s[i];
            left_s[i] -= took_s * speed[i];
            if (left_s[i] <= before_s * 1e-12) ended |= members{1} << i;
        }
        at_s += took_s;
        unfinished &= ~ended;
        return ended;
    }

    const group& of_;
    const circumstances& in_;
    problem movers_;
    problem_builder build_;
    problem::values moved_s_{};
    problem::values alone_s_{};
};

}  // namespace

void choose_tolerated(const group& of, const circumstances& in, turns& into) {
    joining some(of, in);
    into.why = reason::tolerated;
    // Those that were let in stay, however many.
    for (uint32_t i = 0; i < of.present.size(); ++i) {
        if (!of.present[i].moving) continue;
        if (!some.full()) some.add(i);
        into.movers.push_back(i);
    }
    for (uint32_t i = 0; i < of.present.size(); ++i) {
        if (of.present[i].moving) continue;
        // Who comes after one that has to wait does not join before it, unless it is in nobody's way.
        if (into.why == reason::delayed || some.full()) {
            into.add_if_apart(of, i);
            continue;
        }
        some.add(i);
        if (into.add_if_apart(of, i)) continue;
        const double has_begun_s = of.present[i].arrived_s + in.how.all_begin_within_s;
        if (in.now_s >= has_begun_s && some.tolerated(0)) {
            into.movers.push_back(i);
            continue;
        }
        into.until_s = std::min(into.until_s, std::max(in.now_s + some.least_delay_s(), has_begun_s));
        into.why = reason::delayed;
        some.remove_last();
    }
}

}  // namespace halcyon::policy
