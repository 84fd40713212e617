#include "models/concurrency.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/requirement.hpp"

namespace halcyon::models {

namespace {

void require_distribution(std::span<const double> probabilities) {
    double sum = 0;
    for (const double one : probabilities) {
        require_share("probability", one);
        sum += one;
    }
    require(std::abs(sum - 1) < 1e-6, "sum of probabilities", sum, "1");
}

double mean_over(std::span<const double> at_once, double base) {
    double sum = 0;
    for (size_t n = 0; n < at_once.size(); ++n) sum += at_once[n] * std::pow(base, static_cast<double>(n));
    return sum;
}

}  // namespace

std::vector<double> running_at_once(std::span<const double> starts, std::span<const double> ends) {
    require(starts.size() == ends.size(), "ends", static_cast<double>(ends.size()), "as many ends as starts");
    std::vector<std::pair<double, int>> changes;  // when, and by how many
    changes.reserve(2 * starts.size());
    for (size_t i = 0; i < starts.size(); ++i) {
        require(std::isfinite(starts[i]), "start", starts[i], "a finite time in s");
        require(std::isfinite(ends[i]) && ends[i] >= starts[i], "end", ends[i], "a time at or after the start");
        if (ends[i] == starts[i]) continue;
        changes.emplace_back(starts[i], 1);
        changes.emplace_back(ends[i], -1);
    }
    require(!changes.empty(), "applications that take time", 0, "at least 1");
    std::sort(changes.begin(), changes.end());
    const double whole = changes.back().first - changes.front().first;
    std::vector<double> shares{0};
    size_t running = 0;
    double since = changes.front().first;
    for (const auto& [when, by] : changes) {
        shares[running] += (when - since) / whole;
        since = when;
        running = by > 0 ? running + 1 : running - 1;
        if (running == shares.size()) shares.push_back(0);
    }
    while (shares.size() > 1 && shares.back() == 0) shares.pop_back();
    return shares;
}

std::vector<double> in_io_at_once(std::span<const double> at_once, double io_share) {
    require_distribution(at_once);
    require_share("io_share", io_share);
    // row[k] is P(Y = k | X = n), from which the next row follows.
    std::vector<double> row{1.0};
    std::vector<double> result(at_once.size(), 0.0);
    for (size_t n = 0; n < at_once.size(); ++n) {
        for (size_t k = 0; k <= n; ++k) result[k] += at_once[n] * row[k];
        row.push_back(0);
        for (size_t k = n + 1; k > 0; --k) row[k] = row[k] * (1 - io_share) + row[k - 1] * io_share;
        row[0] *= 1 - io_share;
    }
    return result;
}

double probability_of_two(std::span<const double> at_once, double io_share) {
    require_distribution(at_once);
    require_share("io_share", io_share);
    double none_or_one = mean_over(at_once, 1 - io_share);
    for (size_t n = 1; n < at_once.size(); ++n) {
        const auto count = static_cast<double>(n);
        none_or_one += at_once[n] * count * io_share * std::pow(1 - io_share, count - 1);
    }
    return std::max(0.0, 1 - none_or_one);
}

double probability_of_another(std::span<const double> at_once, double io_share) {
    require_distribution(at_once);
    require_share("io_share", io_share);
    return std::max(0.0, 1 - mean_over(at_once, 1 - io_share));
}

double probability_of_start_within(double alone_s, double window_s) {
    require_time("alone_s", alone_s);
    require_positive("window_s", window_s);
    require(alone_s <= window_s, "window_s", window_s, "at least the duration of the I/O phase");
    return alone_s / window_s;
}

int64_t files_created(file_use use, int64_t ranks) {
    require(ranks >= 1, "ranks", static_cast<double>(ranks), "1 rank or more");
    switch (use) {
        case file_use::shared:
            return 1;
        case file_use::one_per_rank:
            return ranks;
        case file_use::logs:
            return 2 * ranks;
    }
    throw error(error_kind::usage, "no such use of files");
}

}  // namespace halcyon::models
