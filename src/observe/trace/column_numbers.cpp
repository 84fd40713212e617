#include "observe/trace/column_numbers.hpp"

namespace halcyon::observe::trace {
namespace {

constexpr bool is_mantissa(column which) {
    return which == column::duration_mantissa || which == column::gap_mantissa || which == column::wait_mantissa;
}

/// Passes a number: whether it is 0, how many bits it has, and those behind the first. Of a mantissa only the first of
/// these and the last, its sign, can be expected.
template <class Coder>
uint64_t number(Coder& coder, uint64_t value, const std::array<uint32_t, bit_model::inputs>& contexts, uint32_t weights,
                int expected_bits) {
    constexpr uint32_t weights_of_rest = bit_model::weight_sets / 2;
    bit_model::question asked{};
    const auto ask = [&](uint32_t place, uint32_t set) -> const bit_model::question& {
        for (size_t i = 0; i < contexts.size(); ++i) asked.contexts[i] = contexts[i] + place * 0x85EBCA6Bu;
        asked.weights = set;
        return asked;
    };
    if (!coder.bit(value != 0, ask(0, weights))) return 0;
    const auto length = static_cast<uint32_t>(std::bit_width(value) - 1);
    uint32_t place = 1;
    for (int bit = 5; bit >= 0; --bit)
        place = place * 2 + (coder.bit((length >> bit & 1) != 0, ask(place, weights)) ? 1 : 0);
    const int rest = static_cast<int>(place - 64);
    uint64_t known = 1;
    for (int bit = rest - 1; bit >= 0; --bit) {
        const bool one = (value >> bit & 1) != 0;
        const bool expected = rest - 1 - bit < expected_bits;
        const uint32_t seen = expected ? static_cast<uint32_t>(known) : 0;
        const bool passed = expected || bit == 0
                                ? coder.bit(one, ask(hashed(place, seen + 1), weights + weights_of_rest))
                                : coder.noise(one);
        known = known * 2 + (passed ? 1 : 0);
    }
    return known;
}

}  // namespace

void number_contexts::begin(column which, std::span<const calls::call_record> records, std::span<const uint64_t> side) {
    which_ = which;
    records_ = records;
    side_ = side;
    all_ = {};
    of_function_ = {};
}

std::array<uint32_t, bit_model::inputs> number_contexts::of(size_t i) const {
    const auto start = static_cast<uint32_t>(which_) << 24;
    const uint32_t here = function(i);
    const uint32_t before = i == 0 ? 0 : function(i - 1);
    const uint32_t file = known(column::file) ? records_[i].file : 0;
    const uint32_t error = known(column::error) ? records_[i].error : 0;
    const history& own = of_function_[here % functions];
    if (is_mantissa(which_)) {
        const auto exponent = static_cast<uint32_t>(side_[i]);
        const uint32_t kind = hashed(here, exponent);
        return {hashed(start, exponent),
                hashed(start + 1, kind),
                hashed(hashed(start + 2, kind), file),
                hashed(hashed(start + 3, kind), before),
                hashed(hashed(start + 4, kind), own.last),
                hashed(start + 5, own.last)};
    }
    if (!known(column::function)) {
        const uint32_t two = hashed(all_.last, all_.before);
        return {start,
                hashed(start + 1, all_.last),
                hashed(start + 2, two),
                hashed(hashed(start + 3, two), all_.earlier),
                start + 4,
                start + 5};
    }
    return {start,
            hashed(hashed(start + 1, here), all_.last),
            hashed(hashed(start + 2, here), own.last),
            hashed(hashed(start + 3, here), hashed(own.last, own.before)),
            hashed(hashed(start + 4, here), before),
            hashed(hashed(start + 5, here), hashed(file, error))};
}

void number_contexts::learn(size_t i, uint64_t value) {
    const uint32_t seen =
        is_mantissa(which_) ? static_cast<uint32_t>(std::bit_width(value)) : static_cast<uint32_t>(value);
    history& own = of_function_[function(i) % functions];
    own = {seen, own.last, own.before};
    all_ = {seen, all_.last, all_.before};
}

template <class Coder>
bool number_columns<Coder>::pass(column which, std::span<const calls::call_record> records,
                                 std::span<const uint64_t> side, std::span<uint64_t> values) {
    constexpr int all_bits = 64;
    constexpr int bits_of_mantissa = 1;
    contexts_.begin(which, records, side);
    for (size_t i = 0; i < values.size(); ++i) {
        values[i] = number(coder_, values[i], contexts_.of(i), static_cast<uint32_t>(which),
                           is_mantissa(which)             ? bits_of_mantissa
                           : which == column::first_start ? 0
                                                          : all_bits);
        contexts_.learn(i, values[i]);
    }
    return true;
}

template class number_columns<bit_encoder>;
template class number_columns<bit_decoder>;

}  // namespace halcyon::observe::trace
