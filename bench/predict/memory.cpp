/// Memory of a thread's model after a million calls, and what a call costs it: a program that writes the particles of
/// all ranks from its first one (LAMMPS: sizes differ from call to call and from dump to dump), and one that writes a
/// file per iteration in a loop over particles whose number drifts (GTC). Counts and sizes come from a random walk.
#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "bench/figure.hpp"
#include "predict/model/model.hpp"

namespace {

using namespace halcyon::bench;
using namespace halcyon::predict;
using halcyon::policy::operation;

constexpr size_t calls = 1'000'000;

/// Calls with the files that they are the first ones of.
class program {
  public:
    void call(uint32_t context, operation what, int64_t bytes = -1) {
        observed_call made;
        made.context = context;
        made.what = {what, file_, bytes < 0 ? -1 : at_, bytes};
        made.moved = bytes;
        made.start_ns = now_ += 2000;
        made.duration_ns = 3000;
        now_ += made.duration_ns;
        at_ += bytes < 0 ? 0 : bytes;
        calls_.push_back(made);
    }
    void computes(int64_t ns) { now_ += ns; }
    void opens(const std::string& path) {
        paths_.push_back(path);
        file_ = static_cast<uint32_t>(paths_.size());
        at_ = 0;
        call(1, operation::open);
    }
    [[nodiscard]] const std::vector<observed_call>& made() const { return calls_; }
    [[nodiscard]] const std::string& path_of(uint32_t file) const { return paths_[file - 1]; }

  private:
    std::vector<observed_call> calls_;
    std::vector<std::string> paths_;
    uint32_t file_ = 0;
    int64_t at_ = 0;
    int64_t now_ = 0;
};

program lammps_like() {
    std::mt19937_64 random(1);
    std::array<int64_t, 64> particles{};
    for (int64_t& count : particles) count = 4000 + static_cast<int64_t>(random() % 400);
    program made;
    made.opens("/run/flow.dump");
    while (made.made().size() < calls) {
        made.computes(50'000'000);
        made.call(2, operation::write, 180);
        for (int64_t& count : particles) {
            count += static_cast<int64_t>(random() % 41) - 20;
            made.call(3, operation::write, count * 21);
        }
        made.call(4, operation::write, 77);
    }
    return made;
}

program gtc_like() {
    std::mt19937_64 random(2);
    int64_t particles = 1000;
    program made;
    for (int iteration = 0; made.made().size() < calls; ++iteration) {
        made.computes(50'000'000);
        particles += static_cast<int64_t>(random() % 101) - 50;
        std::array<char, 64> path;
        snprintf(path.data(), path.size(), "/run/node0000/gtc_%06d.dat", iteration);
        made.opens(path.data());
        made.call(2, operation::write, 64);
        for (int64_t i = 0; i < particles; ++i) made.call(3, operation::write, 384);
        made.call(4, operation::write, 64);
        made.call(5, operation::close);
    }
    return made;
}

struct learnt {
    halcyon::calls::memory_bound names_memory{SIZE_MAX};
    file_names names{names_memory};
    model knows{{}, names};
    uint32_t named = 0;

    double learn(const program& from) {
        const auto start = halcyon::monotonic_ns();
        for (const observed_call& one : from.made()) {
            if (one.what.file > named) names.name(named = one.what.file, from.path_of(one.what.file));
            knows.append(one);
        }
        return static_cast<double>(halcyon::monotonic_ns() - start) / static_cast<double>(from.made().size());
    }
};

}  // namespace

int main() {
    const std::array made{std::pair(lammps_like(), "lammps"), std::pair(gtc_like(), "gtc")};
    for (const auto& [calls_of, named] : made) {
        const std::string name = named;
        for (rounds r; r.next();) {
            const double first = std::make_unique<learnt>()->learn(calls_of);
            r.value("ns_per_call_" + name, first, "ns");
            r.control("ns_per_call_" + name + "_control", std::make_unique<learnt>()->learn(calls_of) / first);
        }
        const auto one = std::make_unique<learnt>();
        one->learn(calls_of);
        std::array<forecast, 16> out;
        one->knows.ahead(out);  // takes its memory the first time
        const size_t bytes = one->knows.bytes_peak() + one->names_memory.peak();
        count("memory_KiB_" + name, static_cast<double>(bytes) / 1024, "KiB");
        count("grammar_runs_" + name, static_cast<double>(one->knows.main().model().size()), "runs");
    }
}
