/// What a call costs the model that learns it, without a process around it: a loop of 20 call sites, as a simulation
/// writes a step: one opens a file, 16 write to it, two sync, one closes. In turn with the grammar and its predictor
/// alone, in changing order; the control is the second take of those over the first.
#include "predict/model/model.hpp"

#include <array>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "bench/figure.hpp"

namespace {

using namespace halcyon::bench;
using namespace halcyon::predict;
using halcyon::policy::operation;

constexpr int sites = 20;
constexpr int steps = 2000;
constexpr int wanted = 15;  // rounds

double model_ns() {
    halcyon::calls::memory_bound memory(SIZE_MAX);
    file_names names(memory);
    const auto learnt = std::make_unique<model>(model::settings{}, names);
    int64_t time = 0;
    int64_t spent = 0;
    for (int step = 0; step < steps; ++step) {
        const auto file = static_cast<uint32_t>(step % 1000 + 1);
        names.name(file, "/out/u." + std::to_string(step));
        const int64_t begin = halcyon::monotonic_ns();
        for (uint32_t site = 0; site < sites; ++site) {
            observed_call call;
            call.context = 100 + site;
            call.function = site == 0 ? 1 : site < 17 ? 2 : site < 19 ? 3 : 4;
            call.what.what = site == 0   ? operation::open
                             : site < 17 ? operation::write
                             : site < 19 ? operation::sync
                                         : operation::close;
            call.what.file = file;
            if (call.what.what == operation::write) {
                call.what.offset = int64_t{site} * 4096;
                call.what.bytes = 4096;
            }
            call.truncates = site == 0;
            call.start_ns = time += 1000;
            call.duration_ns = 500;
            learnt->append(call);
            time += 500;
        }
        spent += halcyon::monotonic_ns() - begin;
        time += 1'000'000'000;
    }
    return static_cast<double>(spent) / (double{sites} * steps);
}

double predictor_ns() {
    const auto alone = std::make_unique<predictor>();
    const int64_t begin = halcyon::monotonic_ns();
    for (int step = 0; step < steps; ++step) {
        for (uint32_t site = 0; site < sites; ++site) alone->append(site + 1);
    }
    return static_cast<double>(halcyon::monotonic_ns() - begin) / (double{sites} * steps);
}

}  // namespace

int main() {
    int first = 0;
    for (rounds r(wanted); r.next(); ++first) {
        std::array<double, 3> ns{};
        for (int turn = 0; turn < 3; ++turn) {
            const int what = (first + turn) % 3;
            ns[what] = what == 0 ? model_ns() : predictor_ns();
        }
        r.value("ns_per_call_model", ns[0], "ns");
        r.value("ns_per_call_model_predictor", ns[1], "ns");
        r.control("ns_per_call_model_control", ns[2] / ns[1]);
    }
}
