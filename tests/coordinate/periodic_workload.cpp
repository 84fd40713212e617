#include "coordinate/periodic_workload.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

namespace halcyon::coordinate {

namespace {

/// Of an iteration's time, so that every application computes.
constexpr double most_io_share = 0.95;

/// Without the distributions of the standard library, which differ between libraries.
class dice {
  public:
    explicit dice(uint64_t seed) : random_(seed) {}
    double between(double least, double most) {
        return least + (most - least) * static_cast<double>(random_() >> 11U) * 0x1p-53;
    }
    uint64_t whole_between(uint64_t least, uint64_t most) {
        const double some = between(static_cast<double>(least), static_cast<double>(most + 1));
        return std::min(most, static_cast<uint64_t>(some));
    }

  private:
    std::mt19937_64 random_;
};

struct times {
    double all_s = 0;
    double io_s = 0;
};

times times_of(const periodic_application& one) {
    times sum;
    for (const iteration& each : one.iterations) {
        sum.all_s += each.computes_s + each.io_s;
        sum.io_s += each.io_s;
    }
    return sum;
}

void draw_iterations(periodic_application& one, double horizon_s, double noise, dice& some) {
    double at_s = 0;
    while (at_s < horizon_s) {
        const double length_s = one.period_s * some.between(1 - noise, 1 + noise);
        const double io_s = length_s * std::min(one.io_share * some.between(1 - noise, 1 + noise), most_io_share);
        one.iterations.push_back({length_s - io_s, io_s});
        at_s += length_s;
    }
}

/// Noise changes the load, most where few iterations are drawn: all volumes are scaled to the load that is wanted.
void scale_io(periodic_workload& made, double factor) {
    for (periodic_application& one : made.all)
        for (iteration& each : one.iterations) {
            const double length_s = each.computes_s + each.io_s;
            each.io_s = std::min(each.io_s * factor, most_io_share * length_s);
            each.computes_s = length_s - each.io_s;
        }
}

}  // namespace

double periodic_workload::io_load() const {
    double sum = 0;
    for (const periodic_application& one : all) {
        const times its = times_of(one);
        sum += its.io_s / its.all_s;
    }
    return sum;
}

/// FNV-1a.
uint64_t periodic_workload::digest() const {
    uint64_t digest = 0xcbf29ce484222325U;
    const auto add = [&](double value) {
        for (uint64_t bits = std::bit_cast<uint64_t>(value), i = 0; i < 8; ++i, bits >>= 8U)
            digest = (digest ^ (bits & 0xffU)) * 0x100000001b3U;
    };
    add(horizon_s);
    for (const periodic_application& one : all) {
        add(static_cast<double>(one.iterations.size()));
        for (const iteration& each : one.iterations) {
            add(each.computes_s);
            add(each.io_s);
        }
    }
    return digest;
}

periodic_workload make_workload(uint64_t seed, const workload_kind& kind) {
    dice some(seed);
    periodic_workload made;
    made.all.resize(some.whole_between(kind.least_applications, kind.most_applications));
    double shares = 0;
    double longest_s = 0;
    for (periodic_application& one : made.all) {
        one.period_s = std::exp(some.between(std::log(kind.shortest_s), std::log(kind.longest_s)));
        one.io_share = some.between(0.05, 1);
        shares += one.io_share;
        longest_s = std::max(longest_s, one.period_s);
    }
    made.horizon_s = kind.periods * (1 + kind.noise) * longest_s;
    for (periodic_application& one : made.all) {
        one.io_share *= kind.io_load / shares;
        draw_iterations(one, made.horizon_s, kind.noise, some);
    }
    scale_io(made, kind.io_load / made.io_load());
    return made;
}

}  // namespace halcyon::coordinate
