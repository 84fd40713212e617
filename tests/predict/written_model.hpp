#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "predict/grammar/grammar_file.hpp"

namespace halcyon::tests {

using model_bytes = std::vector<unsigned char>;
/// Symbol, as the file numbers them, and exponent.
using written_run = std::pair<uint32_t, uint64_t>;

inline void put(model_bytes& to, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) to.push_back(static_cast<unsigned char>(value >> 8 * i));
}

inline void mend_check_sum(model_bytes& model) {
    const uint64_t sum = predict::model_check_sum(model);
    for (unsigned i = 0; i < 8; ++i) model[48 + i] = static_cast<unsigned char>(sum >> 8 * i);
}

/// A model's file written by hand, right or wrong; S is the first rule and has the number of terminals as its number.
inline model_bytes written_model(const std::vector<uint32_t>& terminals,
                                 const std::vector<std::vector<written_run>>& rules, bool was_full = false) {
    std::vector<uint64_t> lengths(rules.size(), 0);
    // As often as rules can be nested; those that go round in circles end somewhere.
    for (size_t turn = 0; turn < rules.size(); ++turn) {
        for (size_t r = 0; r < rules.size(); ++r) {
            lengths[r] = 0;
            for (const auto& [symbol, exponent] : rules[r]) {
                const size_t inner = symbol - terminals.size();
                lengths[r] += exponent * (symbol < terminals.size() ? 1 : inner < rules.size() ? lengths[inner] : 0);
            }
        }
    }
    uint64_t runs = 0;
    for (const auto& rule : rules) runs += rule.size();
    model_bytes model;
    for (const char letter : {'H', 'A', 'L', 'C', 'G', 'R', 'A', 'M'})
        model.push_back(static_cast<unsigned char>(letter));
    put(model, predict::grammar_file_version, 4);
    put(model, was_full ? 1 : 0, 4);
    put(model, terminals.size(), 4);
    put(model, rules.size(), 4);
    put(model, runs, 8);
    put(model, lengths[0], 8);
    put(model, 0, 8);
    put(model, 0, 8);
    for (const uint32_t terminal : terminals) put(model, terminal, 4);
    for (const auto& rule : rules) put(model, rule.size(), 4);
    for (const auto& rule : rules) {
        for (const auto& [symbol, exponent] : rule) {
            put(model, symbol, 4);
            put(model, exponent, 8);
        }
    }
    mend_check_sum(model);
    return model;
}

inline model_bytes saved(const predict::grammar& g) {
    model_bytes model(predict::saved_bytes(g));
    return predict::save(g, model) ? model : model_bytes{};
}

}  // namespace halcyon::tests
