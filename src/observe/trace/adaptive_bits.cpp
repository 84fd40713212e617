#include "observe/trace/adaptive_bits.hpp"

namespace halcyon::observe::trace {
namespace {

// All of these are part of the format.
constexpr int32_t logit_one = 256;  // log odds are in 1/256, from -8 to 8
constexpr int32_t logit_limit = 2047;
constexpr int32_t first_weight = 65536 * 4 / 10;  // weights are in 1/65536
constexpr int32_t weight_limit = 1 << 22;
constexpr int64_t weight_rate = 6;
constexpr uint32_t memory = 30;  // a slot that was seen so often goes on learning as fast as then

constexpr double exponential(double x) {
    double part = x / 1024;
    double sum = 1 + part + part * part / 2 + part * part * part / 6;
    for (int i = 0; i < 10; ++i) sum *= sum;
    return sum;
}

/// Probability in 1/65536 by log odds.
constexpr auto squashed = [] {
    std::array<uint16_t, 2 * logit_limit + 1> table{};
    for (int i = 0; i < static_cast<int>(table.size()); ++i) {
        const double p = 65536.0 / (1 + exponential(-double(i - logit_limit) / logit_one));
        table[static_cast<size_t>(i)] = static_cast<uint16_t>(p < 16 ? 16 : p > 65520 ? 65520 : p);
    }
    return table;
}();

/// Log odds by probability in 1/4096.
constexpr auto stretched = [] {
    std::array<int16_t, 4096> table{};
    size_t odds = 0;
    for (size_t p = 0; p < table.size(); ++p) {
        while (odds + 1 < squashed.size() && squashed[odds] < p * 16 + 8) ++odds;
        table[p] = static_cast<int16_t>(static_cast<int>(odds) - logit_limit);
    }
    return table;
}();

/// By how much of the difference a slot learns that was seen so often, in 1/65536.
constexpr auto rates = [] {
    std::array<uint16_t, memory + 1> table{};
    for (size_t seen = 0; seen < table.size(); ++seen) table[seen] = static_cast<uint16_t>(131072 / (2 * seen + 3));
    return table;
}();

/// How much a slot's word counts that was seen so often, in 1/256.
constexpr auto trust = [] {
    std::array<uint16_t, memory + 1> table{};
    for (size_t seen = 0; seen < table.size(); ++seen)
        table[seen] = static_cast<uint16_t>(seen == 0 ? 0 : 256 * (2 * seen + 1) / (2 * seen + 3));
    return table;
}();

}  // namespace

void bit_model::begin() {
    for (slot& one : slots_) one = {32768, 0};
    for (auto& set : weights_) set.fill(first_weight);
}

uint32_t bit_model::expect(const question& asked) {
    int64_t sum = 0;
    set_ = asked.weights % weight_sets;
    for (size_t i = 0; i < inputs; ++i) {
        slot* found = &slots_[(asked.contexts[i] * 0x9E3779B1u) >> (32 - slot_bits)];
        asked_[i] = found;
        says_[i] = stretched[found->one >> 4] * trust[found->seen] / 256;
        sum += int64_t{says_[i]} * weights_[set_][i];
    }
    int64_t odds = sum >> 16;
    odds = odds < -logit_limit ? -logit_limit : odds > logit_limit ? logit_limit : odds;
    mixed_ = squashed[static_cast<size_t>(odds + logit_limit)];
    return mixed_;
}

void bit_model::learn(bool one) {
    const int32_t missed = (one ? 65535 : 0) - static_cast<int32_t>(mixed_);
    for (size_t i = 0; i < inputs; ++i) {
        int32_t& weight = weights_[set_][i];
        weight += static_cast<int32_t>((int64_t{says_[i]} * missed * weight_rate) >> 16);
        weight = weight < -weight_limit ? -weight_limit : weight > weight_limit ? weight_limit : weight;
        slot& found = *asked_[i];
        const int64_t off = (one ? 65535 : 0) - int64_t{found.one};
        found.one = static_cast<uint16_t>(found.one + ((off * rates[found.seen]) >> 16));
        if (found.seen < memory) ++found.seen;
    }
}

}  // namespace halcyon::observe::trace
