#include "predict/grammar/grammar_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "calls/memory/growing_array.hpp"
#include "predict/grammar/file_check.hpp"
#include "predict/grammar/grammar_builder.hpp"

namespace halcyon::predict {

namespace {

constexpr char magic[] = "HALCGRAM";
constexpr size_t version_at = 8, flags_at = 12, terminals_at = 16, rules_at = 20, runs_at = 24, length_at = 32,
                 unlearned_at = 40, check_at = 48, header_bytes = grammar_header_bytes, run_bytes = 12;

void put(unsigned char* at, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) at[i] = static_cast<unsigned char>(value >> 8 * i);
}

uint64_t get(const unsigned char* at, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value |= uint64_t{at[i]} << 8 * i;
    return value;
}

size_t bytes_of(uint64_t terminals, uint64_t rules, uint64_t runs) {
    return header_bytes + 4 * terminals + 4 * rules + run_bytes * runs;
}

/// The number of each symbol in the file: terminals first, then rules.
class numbering {
  public:
    explicit numbering(const grammar& g) {
        for (symbol_index i = 0; i < g.symbols_end() && good_; ++i) terminals_ += terminal(g, i) ? 1 : 0;
        uint32_t next_terminal = 0;
        uint32_t next_rule = terminals_;
        for (symbol_index i = 0; i < g.symbols_end() && good_; ++i)
            good_ = numbers_.push(terminal(g, i) ? next_terminal++ : g.symbol(i).is_rule() ? next_rule++ : 0);
    }
    [[nodiscard]] bool good() const { return good_; }
    [[nodiscard]] uint32_t operator[](symbol_index i) const { return numbers_[i]; }

    static bool terminal(const grammar& g, symbol_index i) { return g.symbol(i).kind == symbol_kind::terminal; }

  private:
    calls::memory_bound bound_{SIZE_MAX};
    calls::growing_array<uint32_t> numbers_{bound_};
    uint32_t terminals_ = 0;
    bool good_ = true;
};

uint32_t count_terminals(const grammar& g) {
    uint32_t terminals = 0;
    for (symbol_index i = 0; i < g.symbols_end(); ++i) terminals += numbering::terminal(g, i) ? 1 : 0;
    return terminals;
}

/// Reads one file; the first thing that is wrong ends it.
class reading {
  public:
    /// `file_bytes`: of the whole file, of which `bytes` may be the beginning.
    reading(std::span<const unsigned char> bytes, uint64_t file_bytes, std::string_view file)
        : bytes_(bytes), file_bytes_(file_bytes), file_(file) {}

    std::optional<failure> check_header() {
        static_cast<void>(header());
        return std::move(failure_);
    }

    std::optional<failure> into(grammar& g) {
        if (header() && whole() && bodies() && order() && expansions()) build(g);
        return std::move(failure_);
    }

  private:
    bool wrong(size_t offset, const std::string& what, error_kind kind = error_kind::config) {
        failure_ = wrong_at_byte(offset, what, file_, kind);
        return false;
    }
    bool no_memory() {
        failure_ = failure{error_kind::system, std::string(file_) + ": no memory to read it with", ENOMEM};
        return false;
    }

    [[nodiscard]] uint64_t at(size_t offset, unsigned bytes) const { return get(&bytes_[offset], bytes); }
    [[nodiscard]] size_t body_at(uint32_t rule) const { return header_bytes + 4 * (size_t{terminals_} + rule); }
    [[nodiscard]] size_t run_at(uint64_t i) const { return bytes_of(terminals_, rules_, i); }
    [[nodiscard]] uint32_t symbol(uint64_t i) const { return static_cast<uint32_t>(at(run_at(i), 4)); }
    [[nodiscard]] uint64_t exponent(uint64_t i) const { return at(run_at(i) + 4, 8); }

    bool header() {
        if (bytes_.size() < header_bytes) return wrong(bytes_.size(), "a model begins with 56 bytes, here it ends");
        if (std::memcmp(bytes_.data(), magic, 8) != 0) return wrong(0, "this is no model of Halcyon");
        const uint64_t version = at(version_at, 4);
        if (version != grammar_file_version)
            return wrong(version_at, "version " + std::to_string(version) + "; this release reads version " +
                                         std::to_string(grammar_file_version) + ": let the program learn anew");
        if (at(flags_at, 4) > 1)
            return wrong(flags_at, "flags " + std::to_string(at(flags_at, 4)) + "; expected 0 or 1");
        was_full_ = at(flags_at, 4) == 1;
        const uint64_t terminals = at(terminals_at, 4);
        const uint64_t rules = at(rules_at, 4);
        runs_ = at(runs_at, 8);
        if (terminals >= nothing || rules == 0 || rules >= nothing || runs_ >= nothing)
            return wrong(terminals_at, "more symbols or runs than a model can have, or no rule");
        terminals_ = static_cast<uint32_t>(terminals);
        rules_ = static_cast<uint32_t>(rules);
        const size_t expected = bytes_of(terminals_, rules_, runs_);
        if (file_bytes_ != expected)
            return wrong(
                std::min<uint64_t>(file_bytes_, expected),
                "the model should have " + std::to_string(expected) + " bytes and has " + std::to_string(file_bytes_));
        return true;
    }
    bool whole() {
        return model_check_sum(bytes_) == at(check_at, 8) || wrong(check_at, "the bytes do not fit their check sum");
    }

    /// Each run by itself, and how often each symbol stands somewhere.
    bool bodies() {
        for (uint32_t s = 0; s < terminals_ + rules_; ++s)
            if (!facts_.push({})) return no_memory();
        uint64_t run = 0;
        for (uint32_t rule = 0; rule < rules_; ++rule) {
            const uint64_t length = at(body_at(rule), 4);
            if (length > runs_ - run || (rule != 0 && length < 2))
                return wrong(body_at(rule), "a rule of " + std::to_string(length) + " runs");
            facts_[terminals_ + rule].first_run = static_cast<uint32_t>(run);
            const uint64_t first = run;
            for (; run < first + length; ++run)
                if (!check_run(run, run == first)) return false;
        }
        if (run != runs_) return wrong(run_at(run), "runs of no rule");
        for (uint32_t rule = 1; rule < rules_; ++rule)
            if (facts_[terminals_ + rule].uses < (was_full_ ? 1u : 2u))
                return wrong(body_at(rule),
                             "a rule that is used " + std::to_string(facts_[terminals_ + rule].uses) + " times");
        return true;
    }

    bool check_run(uint64_t i, bool first) {
        const uint32_t s = symbol(i);
        if (s >= terminals_ + rules_ || s == terminals_)
            return wrong(run_at(i), "a run of symbol " + std::to_string(s) + ", which is none or S");
        if (exponent(i) == 0 || exponent(i) > grammar::longest)
            return wrong(run_at(i) + 4, "an exponent of " + std::to_string(exponent(i)));
        if (!first && s == symbol(i - 1)) return wrong(run_at(i), "two runs of one symbol side by side");
        ++facts_[s].places;
        facts_[s].uses += exponent(i);
        return true;
    }

    /// Rules so that each comes after all that use it.
    bool order() {
        if (!order_.push(terminals_)) return no_memory();
        for (uint32_t k = 0; k < order_.size(); ++k) {
            const uint32_t rule = order_[k] - terminals_;
            for (uint64_t i = facts_[order_[k]].first_run, end = i + at(body_at(rule), 4); i < end; ++i) {
                const uint32_t s = symbol(i);
                if (--facts_[s].places == 0 && s > terminals_ && !order_.push(s)) return no_memory();
            }
        }
        for (uint32_t rule = 1; rule < rules_ && order_.size() != rules_; ++rule)
            if (facts_[terminals_ + rule].places != 0)
                return wrong(body_at(rule), "a rule that is used by itself, or by none that S uses");
        return true;
    }

    /// Lengths from the innermost rules outwards.
    bool expansions() {
        for (uint32_t k = order_.size(); k-- > 0;) {
            fact& rule = facts_[order_[k]];
            rule.length = 0;
            for (uint64_t i = rule.first_run, end = i + at(body_at(order_[k] - terminals_), 4); i < end; ++i) {
                // Neither factor is above 2^39: what the product exceeds in 64 bits the division finds.
                const uint64_t length = facts_[symbol(i)].length;
                if (exponent(i) > grammar::longest / length || rule.length + exponent(i) * length > grammar::longest)
                    return wrong(run_at(i), "a rule that expands to more than 2^39 symbols");
                rule.length += exponent(i) * length;
            }
        }
        if (facts_[terminals_].length != at(length_at, 8))
            return wrong(length_at, "an input of " + std::to_string(at(length_at, 8)) + " symbols, and rules for " +
                                        std::to_string(facts_[terminals_].length));
        return true;
    }

    bool build(grammar& g) {
        grammar_builder builder(g);
        const auto too_small = [&] {
            return wrong(0, "the model does not fit into the bound of memory that was set; raise it",
                         error_kind::usage);
        };
        if (!builder.is_new()) return wrong(0, "the grammar to load it into has learnt already", error_kind::usage);
        for (uint32_t t = 0; t < terminals_; ++t) {
            const size_t offset = header_bytes + 4 * size_t{t};
            const auto value = static_cast<uint32_t>(at(offset, 4));
            if (g.find(value) != nothing)
                return wrong(offset, "terminal " + std::to_string(value) + " for the second time");
            if (!builder.add_terminal(value)) return too_small();
        }
        for (uint32_t rule = 1; rule < rules_; ++rule)
            if (!builder.add_rule()) return too_small();
        for (uint32_t rule = 0; rule < rules_; ++rule) {
            const uint64_t first = facts_[terminals_ + rule].first_run;
            for (uint64_t i = first, end = i + at(body_at(rule), 4); i < end; ++i)
                if (!builder.add_run(slot(terminals_ + rule), make_run(slot(symbol(i)), exponent(i))))
                    return too_small();
        }
        for (uint32_t k = order_.size(); k-- > 0;) builder.set_expansion(slot(order_[k]));
        for (uint32_t k = 0; k < order_.size(); ++k) builder.count_body(slot(order_[k]));
        return index(builder);
    }

    bool index(grammar_builder& builder) {
        for (uint32_t rule = 0; rule < rules_; ++rule) {
            const uint64_t first = facts_[terminals_ + rule].first_run;
            const uint64_t twice = builder.index_body(slot(terminals_ + rule));
            if (twice != grammar_builder::none_twice && !was_full_)
                return wrong(run_at(first + twice), "a digram for the second time");
        }
        return builder.finish(at(unlearned_at, 8)) ||
               wrong(0, "the model does not fit into the bound of memory that was set; raise it", error_kind::usage);
    }

    /// Of a new grammar, in which S comes first.
    [[nodiscard]] symbol_index slot(uint32_t number) const {
        return number == terminals_ ? start_rule : number < terminals_ ? number + 1 : number;
    }

    struct fact {
        uint64_t length = 1;
        uint64_t uses = 0;
        uint32_t places = 0;
        uint32_t first_run = 0;
    };

    std::span<const unsigned char> bytes_;
    uint64_t file_bytes_;
    std::string_view file_;
    std::optional<failure> failure_;
    calls::memory_bound bound_{SIZE_MAX};
    calls::growing_array<fact> facts_{bound_};  // of each symbol, in the file's numbers
    calls::growing_array<uint32_t> order_{bound_};
    uint32_t terminals_ = 0;
    uint32_t rules_ = 0;
    uint64_t runs_ = 0;
    bool was_full_ = false;
};

}  // namespace

uint64_t model_check_sum(std::span<const unsigned char> bytes) {
    return check_sum(bytes.subspan(header_bytes), check_sum(bytes.first(check_at), mixed(bytes.size())));
}

size_t saved_bytes(const grammar& g) {
    return bytes_of(count_terminals(g), g.rules(), g.size());
}

bool save(const grammar& g, std::span<unsigned char> out) {
    const numbering number(g);
    if (!number.good() || !g.usable() || out.size() != saved_bytes(g)) return false;
    const uint32_t terminals = count_terminals(g);
    std::memcpy(out.data(), magic, 8);
    put(&out[version_at], grammar_file_version, 4);
    put(&out[flags_at], g.full() ? 1 : 0, 4);
    put(&out[terminals_at], terminals, 4);
    put(&out[rules_at], g.rules(), 4);
    put(&out[runs_at], g.size(), 8);
    put(&out[length_at], g.length(), 8);
    put(&out[unlearned_at], g.unlearned(), 8);
    unsigned char* values = out.data() + header_bytes;
    unsigned char* lengths = values + 4 * size_t{terminals};
    unsigned char* runs = lengths + 4 * size_t{g.rules()};
    for (symbol_index s = 0; s < g.symbols_end(); ++s) {
        const symbol_entry& entry = g.symbol(s);
        if (entry.kind == symbol_kind::terminal) put(values, entry.value, 4), values += 4;
        if (!entry.is_rule()) continue;
        put(lengths, entry.body, 4), lengths += 4;
        for (node_index i = g.first_of(s); !g.at(i).guard(); i = g.at(i).next(), runs += run_bytes) {
            put(runs, number[g.at(i).symbol()], 4);
            put(runs + 4, g.at(i).exponent(), 8);
        }
    }
    put(&out[check_at], model_check_sum(out), 8);
    return true;
}

std::optional<failure> load(grammar& into, std::span<const unsigned char> bytes, std::string_view file) {
    return reading(bytes, bytes.size(), file).into(into);
}

std::optional<failure> check_grammar_header(std::span<const unsigned char> begin, uint64_t file_bytes,
                                            std::string_view file) {
    if (file_bytes > largest_file_bytes) return too_large_a_file(file_bytes, file);
    return reading(begin, file_bytes, file).check_header();
}

}  // namespace halcyon::predict
