#include "predict/grammar/predictor.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace halcyon::predict {

namespace {

/// How many levels of nested rules the context of a discovery reaches into.
constexpr unsigned contexts_tried = 4;
/// How many places of a terminal a discovery looks at when no context is known.
constexpr unsigned occurrences_tried = 12;
constexpr uint64_t longest_walk = 4096;
/// Where fewer of the last predictions came true, fewer uses of rules that end are followed: it would be work for
/// nothing.
constexpr double little_luck = 0.1;
constexpr unsigned uses_without_luck = 1;
constexpr double little_lost = 0.1;

}  // namespace

predictor::predictor(const settings& chosen)
    : most_cursors_(chosen.cursors),
      memory_(SIZE_MAX),
      grammar_(chosen.bound_bytes, memory_),
      cursors_(grammar_, memory_, chosen.cursors, true) {}

predictor::predictor(const settings& chosen, calls::memory_bound& within)
    : most_cursors_(chosen.cursors),
      memory_(SIZE_MAX, within),
      grammar_(chosen.bound_bytes, memory_),
      cursors_(grammar_, memory_, chosen.cursors, true) {}

predictor::~predictor() {
    if (scratch_ == nullptr) return;
    scratch_->~cursor_set();
    memory_.give_back(scratch_, sizeof(cursor_set));
}

void predictor::append(uint32_t symbol) {
    score_one(symbol);
    predictions_known_ = false;
    walk_ = 0;
    const symbol_index terminal = grammar_.intern(symbol);
    cursors_.advance(terminal);
    count_run(terminal);
    grammar_.append(terminal);
    if (cursors_.empty() || too_little_is_followed()) discover();
}

/// A shorter context that is known as a whole is better than a part of a longer one, chosen by how new its places are,
/// unless that part agrees.
bool predictor::too_little_is_followed() {
    const bool disagree = cursors_.lost() > cursors_.weight() * little_lost && next().size() > 1;
    predictions_known_ = false;
    return disagree;
}

void predictor::score_one(uint32_t symbol) {
    const auto predicted = next();
    if (predicted.empty()) {
        ++score_.unpredicted;
        return;
    }
    const bool hit = predicted[0].symbol == symbol;
    ++(hit ? score_.hits : score_.misses);
    luck_ += (hit ? 1 - luck_ : -luck_) / 64;
    if (predicted.size() == 1) agreed_luck_ += (hit ? 1 - agreed_luck_ : -agreed_luck_) / 64;
    cursors_.follow(luck_ < little_luck ? uses_without_luck : cursor_set::most_uses);
    for (const prediction& p : predicted) {
        if (p.symbol == symbol) score_.probability_sum += p.probability;
    }
}

void predictor::count_run(symbol_index terminal) {
    if (terminal == last_) {
        ++run_length_;
        return;
    }
    before_run_ = last_;
    last_ = terminal;
    run_length_ = 1;
}

// --- what comes next ---

std::span<const prediction> predictor::next() {
    if (!predictions_known_) {
        prediction_count_ = gather(cursors_, predictions_);
        if (prediction_count_ == 0 && run_length_ > 1 && last_ != nothing) {
            predictions_[0] = run_goes_on();
            prediction_count_ = 1;
        }
        predictions_known_ = true;
    }
    return {predictions_.data(), prediction_count_};
}

/// A run is the only evidence of itself: it has gone on in all but one of the places in it where it could have ended.
prediction predictor::run_goes_on() const {
    const auto length = static_cast<double>(run_length_);
    return {grammar_.symbol(last_).value, length / (length + 1)};
}

/// `out` holds as many as there may be cursors.
size_t predictor::gather(const cursor_set& from, std::span<prediction> out) const {
    const double followed = from.weight();
    size_t count = 0;
    for (unsigned i = 0; i < from.size(); ++i) {
        const uint32_t value = grammar_.symbol(from.expected(from[i])).value;
        const auto end = out.begin() + static_cast<std::ptrdiff_t>(count);
        const auto same = std::find_if(out.begin(), end, [&](const prediction& p) { return p.symbol == value; });
        if (same == end) out[count++] = {value, 0};
        same->probability += from[i].weight;
    }
    // Where all that were followed agree, what was not followed goes on in another way as often as it did until now.
    const double lost = count == 1 ? from.lost() * (1 - agreed_luck_) : from.lost();
    for (size_t i = 0; i < count; ++i) out[i].probability /= followed + lost;
    // They are few; std::stable_sort would take memory for them, in the middle of which the application may be.
    for (size_t i = 1; i < count; ++i) {
        for (size_t k = i; k > 0 && out[k].probability > out[k - 1].probability; --k) std::swap(out[k], out[k - 1]);
    }
    return count;
}

size_t predictor::ahead(std::span<prediction> out) {
    walk_ = 0;
    constexpr uint64_t own_walk = UINT64_MAX;
    size_t filled = 0;
    while (filled < out.size() && step_ahead(own_walk, out[filled])) ++filled;
    return filled;
}

bool predictor::begin_scratch() {
    if (scratch_ == nullptr) {
        void* place = memory_.take(sizeof(cursor_set));
        if (place == nullptr) return false;
        scratch_ = new (place) cursor_set(grammar_, memory_, most_cursors_, false);
    }
    scratch_->clear();
    scratch_->add_all(cursors_);
    return true;
}

bool predictor::first_step(prediction& step) {
    const auto predicted = next();
    if (predicted.empty()) return false;
    step = predicted[0];
    return true;
}

bool predictor::step_ahead(uint64_t walk, prediction& step) {
    if (walk != walk_) {
        walk_ = walk;
        walked_ = 0;
        walked_to_ = {0, 1};
    }
    if (walked_++ == 0) {
        if (!first_step(step)) return false;
        walked_to_ = step;
        return true;
    }
    if (cursors_.empty()) {
        if (run_length_ < 2 || last_ == nothing) return false;
        step = run_goes_on();
    } else {
        // Without memory for them there is no second step, nor any behind it.
        if (walked_ == 2 ? !begin_scratch() : scratch_ == nullptr) return false;
        if (scratch_->empty()) return false;
        scratch_->advance(grammar_.find(walked_to_.symbol));
        // The end of S is now: what follows it is what the cursors say.
        if (scratch_->empty() && scratch_->at_end() > 0) scratch_->add_all(cursors_);
        std::array<prediction, cursor_set::most_cursors> expected;
        if (gather(*scratch_, expected) == 0) return false;
        step = expected[0];
    }
    step.probability *= walked_to_.probability;
    walked_to_ = step;
    return true;
}

size_t predictor::progress(std::span<rule_progress> out) const {
    const cursor* c = cursors_.heaviest();
    if (c == nullptr) return 0;
    size_t filled = 0;
    uint64_t remaining = 0;  // of the repetition under way of the frame's node
    uint64_t walked = 0;
    for (unsigned i = c->depth; i-- > 0 && filled < out.size();) {
        const frame& f = c->frames[i];
        const node* n = &grammar_.at(f.at());
        const symbol_entry& symbol = grammar_.symbol(n->symbol());
        rule_progress& level = out[filled++];
        const symbol_index rule = grammar_.rule_of(f.at());
        level = {grammar_.symbol(rule).length, 0, 0, 0, false};
        const bool under_way = i + 1 < c->depth;  // the node's rule, which `remaining` is of
        remaining += (n->exponent() - f.done() - (under_way ? 1 : 0)) * symbol.length;
        for (n = &grammar_.at(n->next()); !n->guard() && walked < longest_walk; n = &grammar_.at(n->next()), ++walked)
            remaining += n->exponent() * grammar_.symbol(n->symbol()).length;
        level.remaining = remaining;
        level.at_least = walked == longest_walk;
        if (i > 0) {
            level.repetition = c->frames[i - 1].done();
            level.repetitions = grammar_.at(c->frames[i - 1].at()).exponent();
            level.at_least = level.at_least || c->frames[i - 1].loose();
        }
    }
    return filled;
}

void predictor::begin_again() {
    cursors_.clear();
    predictions_known_ = false;
    last_ = before_run_ = nothing;
    run_length_ = 0;
    if (grammar_.usable()) cursors_.add_at_beginning();
}

// --- discovery: Dorier 2014, table 7.4 ---

/// The longer context wins: what stands before the last run in S, which may be a rule, then what that rule ends with,
/// and so on; at last any place of the terminal, those first that may have the same terminal before them.
void predictor::discover() {
    if (last_ == nothing || !grammar_.usable()) return;
    ++score_.discoveries;
    cursors_.clear();
    if (grammar_.full()) {
        if (before_run_ != nothing) {
            const node_index left = grammar_.find_digram(make_run(before_run_, 1), make_run(last_, run_length_));
            ++visited_;
            if (left != nothing) {
                const node_index at = grammar_.at(left).next();
                cursors_.add_behind(at, run_length_, static_cast<double>(grammar_.symbol(grammar_.rule_of(at)).count),
                                    nothing);
            }
        }
        if (cursors_.empty()) discover_by_occurrences(nothing);
        return;
    }
    const node_index tail = grammar_.tail();
    const node& n = grammar_.at(tail);
    if (!discover_by_digrams(n.previous(), n.run())) discover_by_occurrences(tail);
}

bool predictor::discover_by_digrams(node_index previous, run last) {
    for (unsigned level = 0; level < contexts_tried && !grammar_.at(previous).guard(); ++level) {
        ++visited_;
        const node_index left = grammar_.find_digram(grammar_.at(previous).run(), last);
        if (left != nothing) {
            const node_index at = grammar_.at(left).next();
            const auto occurred = static_cast<double>(grammar_.symbol(grammar_.rule_of(at)).count);
            cursors_.add_behind(at, exponent_of(last), occurred, nothing);
            if (!cursors_.empty()) return true;
        }
        if (discover_by_repetition(previous)) return true;
        const symbol_entry& symbol = grammar_.symbol(grammar_.at(previous).symbol());
        if (!symbol.is_rule()) return false;
        previous = grammar_.at(symbol.value).previous();
    }
    return false;
}

/// Behind a rule that came several times in a row, what has just come may begin it once more, where it came more often,
/// or another rule that does not tell itself from it yet. As no digram begins so, no node says what followed; the
/// other runs of the rule do, and this one of itself: it has gone on in all places but this one.
bool predictor::discover_by_repetition(node_index previous) {
    const node& before = grammar_.at(previous);
    const symbol_entry& symbol = grammar_.symbol(before.symbol());
    const uint64_t repeated = before.exponent();
    if (repeated < 2 || !symbol.is_rule() || symbol.first != last_) return false;
    node_index i = symbol.newest;
    for (unsigned looked_at = 0; i != nothing && looked_at < occurrences_tried; ++looked_at) {
        ++visited_;
        const node& n = grammar_.at(i);
        const auto occurred = static_cast<double>(grammar_.symbol(grammar_.rule_of(i)).count);
        if (n.exponent() > repeated) {
            cursors_.add_within(i, repeated, run_length_, occurred);
        } else if (n.exponent() == repeated && i != previous) {
            const node& behind = grammar_.at(n.next());
            if (!behind.guard() && grammar_.symbol(behind.symbol()).first == last_)
                cursors_.add_within(n.next(), 0, run_length_, occurred);
        }
        i = n.older();
    }
    cursors_.add_within(grammar_.first_of(before.symbol()), 0, run_length_, static_cast<double>(repeated - 1));
    return !cursors_.empty();
}

void predictor::discover_by_occurrences(node_index tail) {
    struct place {
        node_index at;
        double occurred;
        bool fits;    // what comes before it may be what came before the run
        bool begins;  // a rule
    };
    std::array<place, occurrences_tried> places;
    unsigned count = 0;
    unsigned looked_at = 0;
    bool any_fits = false;
    double seen = 0;
    node_index i = grammar_.symbol(last_).newest;
    for (; i != nothing && looked_at < occurrences_tried; i = grammar_.at(i).older(), ++looked_at) {
        ++visited_;
        const node& n = grammar_.at(i);
        const node& previous = grammar_.at(n.previous());
        const auto occurred = static_cast<double>(grammar_.symbol(grammar_.rule_of(i)).count);
        seen += occurred * static_cast<double>(n.exponent());
        if (i == tail || n.exponent() < run_length_) continue;
        const bool fits = previous.guard() || grammar_.symbol(previous.symbol()).last == before_run_;
        any_fits = any_fits || fits;
        places[count++] = {i, occurred, fits, previous.guard()};
    }
    double taken = 0;
    for (unsigned k = 0; k < count; ++k) {
        const place& p = places[k];
        if (any_fits && !p.fits) continue;
        taken += p.occurred;
        cursors_.add_behind(p.at, run_length_, p.occurred, p.begins ? before_run_ : nothing);
    }
    if (i == nothing || count == 0) return;
    const double unseen = not_like_seen(static_cast<double>(grammar_.symbol(last_).count), seen, count);
    cursors_.add_lost(taken * unseen / (1 - unseen));
}

}  // namespace halcyon::predict
