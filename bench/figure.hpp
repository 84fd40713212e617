#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace halcyon::bench {

/// Measured values of one kind, and what is said of them.
class samples {
  public:
    void add(double value) { values_.push_back(value); }
    [[nodiscard]] size_t count() const { return values_.size(); }
    [[nodiscard]] double median() const { return quantile(0.5); }
    /// The smallest value that at least `share` of all do not exceed; there must be one.
    [[nodiscard]] double quantile(double share) const {
        std::vector<double> sorted = values_;
        const auto index = std::min(sorted.size() - 1, static_cast<size_t>(share * static_cast<double>(sorted.size())));
        std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(index), sorted.end());
        return sorted[index];
    }
    void clear() { values_.clear(); }

  private:
    std::vector<double> values_;
};

/// Prints the median as `<room>.name`, and the spread as `<room>.name_p10` and `<room>.name_p90`. The room is that of
/// the benchmark's folder, which the build tells.
inline void print(const std::string& name, const samples& s, const char* unit) {
    for (const auto& [suffix, share] : {std::pair("", 0.5), std::pair("_p10", 0.1), std::pair("_p90", 0.9)})
        std::printf(HALCYON_BENCH_ROOM ".%s%s %.6g %s\n", name.c_str(), suffix, s.quantile(share), unit);
    std::fflush(stdout);
}

/// A quantity and two takes of its reference, measured in turn. The ratio of each group of rounds is one sample, and so
/// is the ratio of the reference's second take to its first: the control, which would be 1 on a machine at rest.
class interleaved {
  public:
    /// `share`: which quantile of a group stands for it, e.g. 0.5 or 0.99.
    explicit interleaved(double share) : share_(share) {}

    void add(double measured, double reference, double reference_again) {
        group_[0].add(measured);
        group_[1].add(reference);
        group_[2].add(reference_again);
    }
    void end_group() {
        const double reference = group_[1].quantile(share_);
        measured_.add(group_[0].quantile(share_));
        reference_.add(reference);
        ratio_.add(group_[0].quantile(share_) / reference);
        control_.add(group_[2].quantile(share_) / reference);
        for (samples& s : group_) s.clear();
    }
    [[nodiscard]] const samples& measured() const { return measured_; }
    [[nodiscard]] const samples& reference() const { return reference_; }

    void print_ratio(const std::string& name) const {
        print(name, ratio_, "ratio");
        print(name + "_control", control_, "ratio");
    }

  private:
    double share_;
    samples group_[3], measured_, reference_, ratio_, control_;
};

}  // namespace halcyon::bench
