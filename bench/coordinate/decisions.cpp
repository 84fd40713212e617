/// Decisions per second of the rule dynamic about one file system: 1,000 registered applications of which 100 are in
/// an I/O phase, nearly all of them waiting, each decision after one registration has changed. Nothing of a decision is
/// used by the next one. Demands, weights and what was learnt of a tenth of the pairs differ, so that overlaps gain and
/// the search has work to do; all share all storage targets, so that they are one group. Beside it the same where all
/// saturate the storage and nothing was learnt (Smith's rule), and where eight are present, for which the search is
/// exact; and each with the rule fcfs, which compares times of arrival alone.
#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "bench/figure.hpp"
#include "policy/decide.hpp"

namespace {

using namespace halcyon::bench;
using namespace halcyon::policy;

struct load {
    std::string name;
    uint32_t registered;
    uint32_t present;
    bool saturating;
    uint32_t decisions;  ///< of `dynamic`
};
constexpr uint32_t of_fcfs = 10'000;

/// A file system's applications, which change.
class applications {
  public:
    explicit applications(const load& of) : of_(of) {
        for (uint64_t id = 1; id <= of.registered; ++id) {
            application one;
            one.id = id;
            all_.push_back(one);
            changed(all_.back(), id <= of.present);
        }
        for (uint32_t i = 0; !of.saturating && i < of.present * of.present / 10; ++i) {
            const application& one = all_[random_() % of.present];
            learned.observe(one, all_[random_() % of.present], 1 / (1 + 2 * some_(random_)));
        }
    }

    interference learned;

    /// One registration differs from now on: of a present one, so that the decision may.
    void change() { changed(all_[random_() % of_.present], true); }
    [[nodiscard]] situation now() const { return {all_, &learned, nullptr, nullptr, 0}; }

  private:
    double spread(double factor) { return std::pow(factor, some_(random_) - 0.5); }

    void changed(application& one, bool present) {
        one.processes = std::lround(1000 * spread(100));
        one.alone_s = 10 * spread(100);
        one.left_s = one.alone_s * some_(random_);
        one.arrived_s = now_s - 20 * some_(random_);
        one.since_s = one.arrived_s;
        one.demand = of_.saturating ? 1 : 0.1 + 0.9 * some_(random_);
        one.weight = spread(20);
        one.state = !present      ? (one.id % 10 == 0 ? movement::expected : movement::computing)
                    : one.id <= 2 ? movement::moving
                                  : movement::waiting;
        if (one.state == movement::expected) one.arrived_s = now_s + 600 * some_(random_);
    }

  public:
    static constexpr double now_s = 1000;

  private:
    load of_;
    std::mt19937_64 random_{7};
    std::uniform_real_distribution<double> some_{0, 1};
    std::vector<application> all_;
};

/// Decisions of one rule, the changes included.
class run {
  public:
    run(const load& of, rule by) : all_(of), by_(by) {}

    void decide(uint32_t decisions) {
        const auto begin = std::chrono::steady_clock::now();
        for (uint32_t i = 0; i < decisions; ++i) {
            all_.change();
            const decision& made = some_.decide(all_.now(), by_, metric::cpu_hours, applications::now_s);
            moved_ += made.move.size();
            groups_ += made.groups.size();
        }
        took_ += std::chrono::steady_clock::now() - begin;
        decisions_ += decisions;
    }

    [[nodiscard]] double per_s(rounds& r) const {
        r.require("every decision lets somebody move", moved_ >= decisions_, std::to_string(moved_) + " turns");
        r.require("all are one group", groups_ == decisions_, std::to_string(groups_) + " groups");
        return static_cast<double>(decisions_) / took_.count();
    }

  private:
    applications all_;
    decider some_;
    rule by_;
    uint64_t decisions_ = 0, moved_ = 0, groups_ = 0;
    std::chrono::duration<double> took_{};
};

/// In blocks in turn, so that all see the same machine.
void measure(rounds& r, const load& of) {
    constexpr uint32_t blocks = 20;
    run measured(of, rule::dynamic), first_come(of, rule::fcfs), again(of, rule::fcfs);
    for (uint32_t block = 0; block < blocks; ++block) {
        measured.decide(of.decisions / blocks);
        first_come.decide(of_fcfs / blocks);
        again.decide(of_fcfs / blocks);
    }
    const double reference = first_come.per_s(r);
    r.value(of.name, measured.per_s(r), "decisions/s");
    r.value(of.name + "_fcfs", reference, "decisions/s");
    r.control(of.name + "_control", again.per_s(r) / reference);
}

}  // namespace

int main() {
    const load loads[] = {
        {"decisions_per_s", 1000, 100, false, 10'000},
        {"decisions_per_s_saturating", 1000, 100, true, 10'000},
        {"decisions_per_s_of_eight", 1000, 8, false, 100},
    };
    for (rounds r; r.next();)
        for (const load& of : loads) measure(r, of);
}
