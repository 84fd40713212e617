// Learns long streams of all kinds, for so many runs or minutes, and looks at grammar, cursors and expansion at
// intervals; then saves what was learnt, loads it, and goes on with that. What is wrong ends it; the same seed leads
// there again. Usage: fuzz_grammar [--symbols N] [--runs N | --minutes N] [--seed N]
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/clock.hpp"
#include "checked_learning.hpp"
#include "written_model.hpp"

namespace {

using namespace halcyon::tests;
using halcyon::predict::predictor;

std::string fault_of_run(uint64_t seed, size_t symbols) {
    randomness random(seed);
    stream input = of_kind(below(random, kinds), symbols, random);
    if (random() % 2 == 0) add(input, of_kind(below(random, kinds), symbols / 4, random));
    const size_t bound = random() % 4 == 0 ? 1 << (14 + random() % 8) : size_t{256} << 20;
    const unsigned cursors = 1 + below(random, 15);
    const auto first = std::make_unique<predictor>(predictor::settings{.bound_bytes = bound, .cursors = cursors});
    const bool whole = bound == size_t{256} << 20;
    if (whole) {
        if (std::string wrong = fault_while_learning(*first, input, 1 + symbols / 5); !wrong.empty()) return wrong;
    } else {
        for (const uint32_t s : input) first->append(s);
        if (std::string wrong = fault_of(*first, input, first->model().length()); !wrong.empty()) return wrong;
    }
    if (first->model().bytes_peak() > std::max(bound, halcyon::predict::grammar::least_bytes))
        return "more memory than allowed";
    const auto second = std::make_unique<predictor>(predictor::settings{.bound_bytes = size_t{256} << 20});
    if (const auto why = load(second->model(), saved(first->model()), "model")) return why->message;
    input.resize(first->model().length());
    second->begin_again();
    for (const uint32_t s : of_kind(below(random, kinds), 1000, random)) {
        input.push_back(s);
        second->append(s);
    }
    return fault_of(*second, input, input.size());
}

}  // namespace

int main(int count, char** words) {
    uint64_t runs = UINT64_MAX;
    uint64_t seed = static_cast<uint64_t>(halcyon::realtime_ns());
    size_t symbols = 1'000'000;
    int64_t end_ns = INT64_MAX;
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string_view name = words[i];
        if (name == "--symbols") symbols = strtoull(words[i + 1], nullptr, 10);
        if (name == "--runs") runs = strtoull(words[i + 1], nullptr, 10);
        if (name == "--seed") seed = strtoull(words[i + 1], nullptr, 10);
        if (name == "--minutes")
            end_ns = halcyon::monotonic_ns() + static_cast<int64_t>(strtod(words[i + 1], nullptr) * 60e9);
    }
    uint64_t done = 0;
    for (; done < runs && halcyon::monotonic_ns() < end_ns; ++done) {
        const std::string wrong = fault_of_run(seed + done, symbols);
        if (wrong.empty()) continue;
        std::printf("seed %llu, %zu symbols: %s\n", static_cast<unsigned long long>(seed + done), symbols,
                    wrong.c_str());
        return 1;
    }
    std::printf("%llu streams from seed %llu on: all right\n", static_cast<unsigned long long>(done),
                static_cast<unsigned long long>(seed));
    return 0;
}
