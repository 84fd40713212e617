/// What a symbol costs the thread that learns it, with all predictions made: loops in three levels, and random symbols,
/// which is the worst there is, as nearly every prediction is wrong. In turn with the grammar alone, in changing order;
/// the control is the second take of the grammar alone over the first.
#include <array>
#include <memory>
#include <random>
#include <vector>

#include "base/clock.hpp"
#include "bench/figure.hpp"
#include "predict/grammar/predictor.hpp"

namespace {

using namespace halcyon::bench;
using namespace halcyon::predict;

constexpr size_t symbols = 1'000'000;
constexpr size_t bound_bytes = size_t{64} << 20;
constexpr int wanted = 15;  // rounds

/// 5 times (10 times (40 times 0, then 1, 2), then 3, 4), then 5, 6, 7.
std::vector<uint32_t> nested_loops() {
    std::vector<uint32_t> all;
    while (all.size() < symbols) {
        for (int outer = 0; outer < 5; ++outer) {
            for (int middle = 0; middle < 10; ++middle) {
                all.insert(all.end(), 40, 0);
                all.insert(all.end(), {1, 2});
            }
            all.insert(all.end(), {3, 4});
        }
        all.insert(all.end(), {5, 6, 7});
    }
    all.resize(symbols);
    return all;
}

std::vector<uint32_t> random_symbols() {
    std::mt19937_64 random(1);
    std::vector<uint32_t> all(symbols);
    for (uint32_t& s : all) s = static_cast<uint32_t>(random() % 50);
    return all;
}

double predictor_ns(const std::vector<uint32_t>& input) {
    const auto p = std::make_unique<predictor>(predictor::settings{.bound_bytes = bound_bytes});
    const auto start = halcyon::monotonic_ns();
    for (const uint32_t s : input) p->append(s);
    return static_cast<double>(halcyon::monotonic_ns() - start) / static_cast<double>(input.size());
}

double grammar_ns(const std::vector<uint32_t>& input) {
    grammar g(bound_bytes);
    const auto start = halcyon::monotonic_ns();
    for (const uint32_t s : input) g.append(g.intern(s));
    return static_cast<double>(halcyon::monotonic_ns() - start) / static_cast<double>(input.size());
}

void measure(const std::vector<uint32_t>& input, const std::string& name) {
    int first = 0;
    for (rounds r(wanted); r.next(); ++first) {
        std::array<double, 3> ns{};
        for (int turn = 0; turn < 3; ++turn) {
            const int what = (first + turn) % 3;
            ns[what] = what == 0 ? predictor_ns(input) : grammar_ns(input);
        }
        r.value("ns_per_symbol_" + name, ns[0], "ns");
        r.value("ns_per_symbol_" + name + "_grammar", ns[1], "ns");
        r.control("ns_per_symbol_" + name + "_control", ns[2] / ns[1]);
    }
}

void print_memory(const std::vector<uint32_t>& input, const std::string& name) {
    predictor p({.bound_bytes = bound_bytes});
    for (const uint32_t s : input) p.append(s);
    count("grammar_KiB_" + name, static_cast<double>(p.model().bytes_used()) / 1024, "KiB");
}

}  // namespace

int main() {
    for (const auto& [input, name] : {std::pair(nested_loops(), "loops"), std::pair(random_symbols(), "random")}) {
        measure(input, name);
        print_memory(input, name);
    }
}
