#include "predict/score/replay.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "predict/score/metrics.hpp"

namespace halcyon::predict {

namespace {

constexpr float nothing_to_score = std::numeric_limits<float>::quiet_NaN();

/// It transfers something, and nobody knows where.
bool placeless(const policy::access& what) {
    return transfers(what.what) && what.offset < 0;
}

segment segment_of(const policy::access& what) {
    if (!transfers(what.what) || what.offset < 0 || what.bytes <= 0) return {};
    return {what.file, what.offset, what.offset + what.bytes};
}

segment segment_of(const naive_forecast& what) {
    if (what.offset < 0 || what.bytes <= 0) return {};
    return {what.file, what.offset, what.offset + what.bytes};
}

/// Mean of what `of` says of each forecast, with both weights.
template <class Of>
call_score::weighed mean_of(std::span<const forecast> forecasts, Of of) {
    double even = 0;
    double likely = 0;
    for (const forecast& one : forecasts) {
        const double value = of(one);
        even += value / static_cast<double>(forecasts.size());
        likely += value * one.access.probability;
    }
    return {static_cast<float>(even), static_cast<float>(likely)};
}

/// The same of whether a call came from the call sites that were forecast.
call_score::weighed context_score(std::span<const forecast> forecasts, uint32_t symbol) {
    const auto came = std::ranges::find(forecasts, symbol, &forecast::symbol);
    if (came == forecasts.end()) return {0, 0};
    return {1 / static_cast<float>(forecasts.size()), static_cast<float>(came->symbol_probability)};
}

/// Errors are no scores: what no forecast has a probability for is not without error.
template <class Of>
call_score::weighed mean_error_of(std::span<const forecast> forecasts, Of of) {
    call_score::weighed sum = mean_of(forecasts, of);
    double probability = 0;
    for (const forecast& one : forecasts) probability += one.access.probability;
    sum.likely = probability > 0 ? static_cast<float>(sum.likely / probability) : sum.even;
    return sum;
}

call_score::naive_score score_of(const naive_forecast& said, const observed_call& call, uint32_t symbol) {
    call_score::naive_score result{};
    const bool access = transfers(call.what.what) && call.what.offset >= 0;
    result.context = said.symbol == naive_forecast::no_symbol ? nothing_to_score : said.symbol == symbol ? 1 : 0;
    result.size_error = transfers(call.what.what) && call.what.bytes > 0 && said.bytes >= 0
                            ? static_cast<float>(size_error(said.bytes, call.what.bytes))
                            : nothing_to_score;
    const bool right = said.offset >= 0 && said.offset == call.what.offset && said.file == call.what.file;
    result.offset = access ? (right ? 1.0f : 0.0f) : nothing_to_score;
    result.hit = placeless(call.what) ? nothing_to_score
                                      : static_cast<float>(hit_ratio(segment_of(said), segment_of(call.what)));
    result.gap_expected_ns = static_cast<double>(said.gap_ns);
    return result;
}

}  // namespace

replay::replay(const model::settings& settings, calls::memory_bound& names_memory)
    : names_(names_memory), model_(settings, names_) {}

void replay::name_file(uint32_t file, std::string_view path) {
    if (file >= named_.size()) named_.resize(size_t{file} * 2 + 64);
    if (named_[file]) return;
    named_[file] = true;
    static_cast<void>(names_.name(file, path));
}

bool replay::names_right_file(const forecast& top, const observed_call& call, std::string_view path) const {
    if (!top.access.new_file) return top.access.what.file == call.what.file;
    std::array<char, file_names::longest_path> expected;
    return names_.next_path(top.name_class, top.new_files, expected) == path;
}

call_score replay::score(const observed_call& call, std::string_view path) {
    const std::span said(forecasts_.data(), model_.next(forecasts_));
    const auto naive_said = naive_.next();
    const bool first = model_.calls() == 0;
    const int64_t gap = std::max<int64_t>(call.start_ns - call.wait_ns - model_.last_end_ns(), 0);

    call_score result{};
    result.file = !said.empty() && names_right_file(said[0], call, path) ? 1 : 0;
    name_file(call.what.file, path);
    model_.append(call);

    const uint32_t symbol = model_.last_symbol();
    const bool access = transfers(call.what.what) && call.what.offset >= 0;
    const segment observed = segment_of(call.what);
    const call_score::weighed none{nothing_to_score, nothing_to_score};
    result.context = context_score(said, symbol);
    result.hit = none;
    if (!placeless(call.what))
        result.hit = mean_of(said, [&](const forecast& f) { return hit_ratio(segment_of(f.access.what), observed); });
    result.offset = none;
    result.size_error = none;
    if (access) {
        result.offset = mean_of(said, [&](const forecast& f) {
            return transfers(f.access.what.what) && f.access.what.offset == call.what.offset &&
                           f.access.what.file == call.what.file
                       ? 1
                       : 0;
        });
        if (call.what.bytes > 0 && !said.empty()) {
            result.size_error = mean_error_of(said, [&](const forecast& f) {
                return size_error(std::max<int64_t>(f.access.what.bytes, 0), call.what.bytes);
            });
        }
    }
    result.gap_observed_ns = first ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(gap);
    result.gap_expected_ns = said.empty() ? 0 : static_cast<double>(said[0].access.begins_ns);
    result.symbol = symbol;
    result.grammar_runs = static_cast<uint32_t>(model_.main().model().size());
    result.forecasts = static_cast<float>(said.size());
    for (uint32_t i = 0; i < naive_predictors; ++i) result.naive[i] = score_of(naive_said[i], call, symbol);
    naive_.learn(call, symbol, first ? 0 : gap);
    return result;
}

}  // namespace halcyon::predict
