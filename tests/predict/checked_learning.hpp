#pragma once

#include <string>

#include "predict/grammar/expansion.hpp"
#include "predict/grammar/grammar_check.hpp"
#include "predict/grammar/predictor.hpp"
#include "streams.hpp"

namespace halcyon::tests {

/// What is wrong with a predictor that has learnt the first `count` symbols of `input`; empty: nothing.
inline std::string fault_of(predict::predictor& p, const stream& input, size_t count) {
    if (std::string wrong = check(p.model()); !wrong.empty()) return wrong;
    if (std::string wrong = check(p.model(), p.cursors()); !wrong.empty()) return wrong;
    double sum = 0;
    for (const predict::prediction& one : p.next()) sum += one.probability;
    if (sum > 1 + 1e-9) return "probabilities of " + std::to_string(sum);
    predict::expansion walk(p.model());
    size_t at = 0;
    for (uint32_t symbol = 0; walk.next(symbol); ++at) {
        if (at >= count || symbol != input[at]) return "another symbol " + std::to_string(at) + " than in the input";
    }
    return at == count ? "" : "an expansion of " + std::to_string(at) + " symbols";
}

/// Learns a stream, and looks at everything after each `interval` symbols and at the end.
inline std::string fault_while_learning(predict::predictor& p, const stream& input, size_t interval) {
    for (size_t i = 0; i < input.size(); ++i) {
        p.append(input[i]);
        if ((i + 1) % interval != 0 && i + 1 != input.size()) continue;
        if (std::string wrong = fault_of(p, input, i + 1); !wrong.empty())
            return "after " + std::to_string(i + 1) + " symbols: " + wrong;
    }
    return {};
}

}  // namespace halcyon::tests
