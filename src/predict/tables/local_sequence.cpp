#include "predict/tables/local_sequence.hpp"

#include <algorithm>
#include <new>

namespace halcyon::predict {

namespace {

constexpr unsigned cursors = 3;
constexpr float decay = 1.0f / 16;

}  // namespace

bool local_sequence::learn(uint32_t number, calls::memory_bound& memory) {
    if (const int predicted = next(); predicted != unknown) {
        const bool hit = static_cast<uint32_t>(predicted) == number;
        luck_ += ((hit ? 1.0f : 0.0f) - luck_) * decay;
    }
    if (grammar_ != nullptr) {
        grammar_->append(number);
        return true;
    }
    if (run_ == 0 || number == last_) {
        last_ = number;
        run_ = std::min(run_ + 1, longest_beginning);
        return true;
    }
    if (!make_grammar(memory, bound_bytes)) {
        last_ = number;
        return false;
    }
    for (uint32_t i = 0; i < run_; ++i) grammar_->append(last_);
    grammar_->append(number);
    return true;
}

bool local_sequence::make_grammar(calls::memory_bound& memory, size_t most_bytes) {
    void* const place = memory.take(sizeof(predictor));
    if (place == nullptr) return false;
    grammar_ = new (place) predictor({.bound_bytes = most_bytes, .cursors = cursors}, memory);
    if (grammar_->model().usable()) return true;
    // There was memory for it, but for nothing that it could learn.
    drop_grammar(memory);
    return false;
}

int local_sequence::next() const {
    if (grammar_ != nullptr) {
        const auto expected = grammar_->next();
        return expected.empty() ? unknown : static_cast<int>(expected[0].symbol);
    }
    return run_ == 0 ? unknown : static_cast<int>(last_);
}

int local_sequence::next_on(uint64_t walk) const {
    if (grammar_ == nullptr) return next();
    prediction step;
    return grammar_->step_ahead(walk, step) ? static_cast<int>(step.symbol) : unknown;
}

void local_sequence::drop_grammar(calls::memory_bound& memory) {
    if (grammar_ == nullptr) return;
    grammar_->~predictor();
    memory.give_back(grammar_, sizeof(predictor));
    grammar_ = nullptr;
}

void local_sequence::release(calls::memory_bound& memory) {
    drop_grammar(memory);
    *this = {};
}

}  // namespace halcyon::predict
