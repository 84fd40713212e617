// The saved models of halcyon._core: what a file of models, or of one grammar, says, as lists and dicts.
#include "programs/python/saved_models.hpp"

#include <nanobind/stl/vector.h>

#include <array>
#include <bit>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text_file.hpp"
#include "predict/grammar/grammar_file.hpp"
#include "predict/model/label_table.hpp"
#include "predict/model/model_file.hpp"
#include "programs/python/python_text.hpp"

namespace nb = nanobind;

namespace halcyon::python {
namespace {

using predict::grammar;
using predict::label_table;
using predict::model;
using predict::time_estimate;

constexpr std::array operation_names{"open", "close", "read", "write", "copy", "sync"};
constexpr std::array base_names{
    "end of last access", "start of last access",       "end of file",  "own last start", "own last end",
    "first hole behind",  "end of last access but one", "start of file"};
static_assert(base_names.size() == predict::offset_bases);

/// None when nothing was learnt.
nb::object spread_of(const time_estimate& of) {
    if (of.count() == 0) return nb::none();
    nb::dict spread;
    spread["count"] = of.count();
    spread["least"] = of.least();
    spread["mean"] = of.mean();
    spread["most"] = of.most();
    spread["deviation"] = of.deviation();
    return spread;
}

nb::object sizes_of(const predict::size_table& of) {
    if (of.count() == 0) return nb::none();
    nb::dict sizes;
    sizes["count"] = of.count();
    sizes["least"] = of.least();
    sizes["mean"] = of.mean();
    sizes["most"] = of.most();
    // None: too many to be told apart.
    const uint32_t distinct = of.constant() ? 1 : of.distinct();
    sizes["distinct"] = distinct == 0 ? nb::object(nb::none()) : nb::object(nb::int_(distinct));
    return sizes;
}

nb::list offsets_of(const predict::offset_table& of) {
    nb::list places;
    for (const auto& one : of.transformations()) {
        // Of several bases that explain all of them the first: what they mean to people is the same.
        const int base = std::countr_zero(one.bases);
        if (static_cast<uint32_t>(base) < predict::offset_bases)
            places.append(nb::make_tuple(base_names[base], one.distance[base]));
    }
    return places;
}

nb::dict phases_of(const predict::phases& of) {
    nb::dict phases;
    phases["calls"] = spread_of(of.calls_of());
    phases["bytes"] = spread_of(of.bytes_of());
    phases["duration_ns"] = spread_of(of.durations());
    phases["interval_ns"] = spread_of(of.intervals());
    phases["pause_ns"] = of.pause_ns();
    return phases;
}

/// The last digram of an input waits for what comes next, since its run may still grow: a loop's last turn stands apart
/// from the others. Here nothing comes any more, which a symbol of its own tells the grammar.
uint32_t end_input(grammar& of) {
    uint32_t end = UINT32_MAX;
    while (of.find(end) != predict::nothing) --end;
    const bool room = of.append(of.intern(end));
    if (!room) throw error(error_kind::system, "no memory for the grammar");
    return end;
}

/// A grammar like this one.
std::unique_ptr<grammar> copy_of(const grammar& other) {
    std::vector<unsigned char> bytes(saved_bytes(other));
    auto made = std::make_unique<grammar>(SIZE_MAX);
    if (!save(other, bytes)) throw error(error_kind::system, "no memory for the grammar");
    if (const auto wrong = predict::load(*made, bytes, "")) throw error(*wrong);
    return made;
}

/// The rules of a grammar whose input has ended, by small numbers, of which S has 0.
class numbered_rules {
  public:
    numbered_rules(const grammar& of, uint32_t end) : grammar_(of), end_(of.find(end)), numbers_(of.symbols_end()) {
        add(predict::start_rule);
        for (predict::symbol_index s = 0; s < of.symbols_end(); ++s) {
            if (s != predict::start_rule && of.symbol(s).is_rule()) add(s);
        }
    }

    [[nodiscard]] nb::list all() const {
        nb::list all;
        for (const predict::symbol_index rule : rules_) {
            nb::dict one;
            one["body"] = body_of(rule);
            one["length"] = grammar_.symbol(rule).length - (rule == predict::start_rule ? 1 : 0);
            // S is the input, once.
            one["uses"] = rule == predict::start_rule ? 1 : grammar_.symbol(rule).count;
            all.append(one);
        }
        return all;
    }

  private:
    void add(predict::symbol_index rule) {
        numbers_[rule] = rules_.size();
        rules_.push_back(rule);
    }
    /// Runs: whether it is a rule, the number of rule or symbol, exponent.
    [[nodiscard]] nb::list body_of(predict::symbol_index rule) const {
        nb::list body;
        for (predict::node_index i = grammar_.first_of(rule); !grammar_.at(i).guard(); i = grammar_.at(i).next()) {
            const predict::node& run = grammar_.at(i);
            if (run.symbol() == end_) continue;
            const predict::symbol_entry& entry = grammar_.symbol(run.symbol());
            const uint64_t number = entry.is_rule() ? numbers_[run.symbol()] : entry.value;
            body.append(nb::make_tuple(entry.is_rule(), number, run.exponent()));
        }
        return body;
    }

    const grammar& grammar_;
    predict::symbol_index end_;
    std::vector<size_t> numbers_;
    std::vector<predict::symbol_index> rules_;
};

/// The rules that a grammar finds in a sequence.
nb::list rules_of(const std::vector<uint32_t>& sequence) {
    grammar found(SIZE_MAX);
    {
        const nb::gil_scoped_release others_run;
        for (const uint32_t symbol : sequence) found.append(found.intern(symbol));
    }
    const uint32_t end = end_input(found);
    return numbered_rules(found, end).all();
}

/// How often a symbol was learnt.
uint64_t seen(const grammar& of, uint32_t terminal) {
    const predict::symbol_index found = of.find(terminal);
    return found == predict::nothing ? 0 : of.symbol(found).count;
}

/// What does not begin as a model of its size is not read, however large it is.
void check_header(const std::string& path) {
    std::array<char, predict::grammar_header_bytes> begin{};
    std::ifstream file(path, std::ios::binary);
    file.read(begin.data(), begin.size());
    std::error_code unknown;
    const uint64_t bytes = std::filesystem::file_size(path, unknown);
    if (!file.is_open() || unknown) return;  // whoever reads it says why
    const std::string_view text(begin.data(), static_cast<size_t>(file.gcount()));
    const std::span first(reinterpret_cast<const unsigned char*>(text.data()), text.size());
    const auto wrong = text.starts_with("HALCGRAM") ? predict::check_grammar_header(first, bytes, path)
                                                    : predict::model_file::check_header(first, bytes, path);
    if (wrong) throw error(*wrong);
}

/// A file, read.
class saved_models {
  public:
    explicit saved_models(const std::string& path) {
        check_header(path);
        const std::string text = read_file(path).value();
        const std::span bytes(reinterpret_cast<const unsigned char*>(text.data()), text.size());
        if (text.starts_with("HALCGRAM")) {
            grammar_ = std::make_unique<grammar>(SIZE_MAX);
            if (const auto wrong = predict::load(*grammar_, bytes, path)) throw error(*wrong);
            return;
        }
        predict::model_file file;
        if (const auto wrong = predict::model_file::open(bytes, path, file)) throw error(*wrong);
        model::settings settings;
        settings.bound_bytes = SIZE_MAX;  // the file's own size is bound enough
        std::vector<model*> into;
        for (uint32_t i = 0; i < file.models(); ++i) {
            // Each has 8 bytes at least, of which a number of models that was made up knows nothing.
            if (i * size_t{8} > text.size())
                throw error(error_kind::config, path + ": at byte 12: more models than the file has room for");
            models_.push_back(std::make_unique<model>(settings, names_));
            into.push_back(models_.back().get());
        }
        if (const auto wrong = file.load(names_, labels_, into)) throw error(*wrong);
    }

    [[nodiscard]] const char* kind() const { return grammar_ ? "grammar" : "model"; }
    [[nodiscard]] size_t threads() const { return grammar_ ? 1 : models_.size(); }

    [[nodiscard]] uint64_t length(size_t index) const { return grammar_of(index).length(); }

    [[nodiscard]] nb::dict thread(size_t index) const {
        const grammar& learnt = grammar_of(index);
        nb::dict result;
        result["length"] = learnt.length();
        result["unlearned"] = learnt.unlearned();
        const std::unique_ptr<grammar> whole = copy_of(learnt);
        const uint32_t end = end_input(*whole);
        result["rules"] = numbered_rules(*whole, end).all();
        result["symbols"] = grammar_ ? terminals_of(learnt) : symbols_of(*models_[index]);
        result["transitions"] = grammar_ ? nb::list() : transitions_of(*models_[index]);
        result["phases"] = grammar_ ? nb::object(nb::none()) : nb::object(phases_of(models_[index]->bursts()));
        return result;
    }

  private:
    [[nodiscard]] const grammar& grammar_of(size_t index) const {
        if (index >= threads())
            throw error(error_kind::usage, "thread " + std::to_string(index) + ": there are " +
                                               std::to_string(threads()) + ", numbered from 0");
        return grammar_ ? *grammar_ : models_[index]->main().model();
    }

    static nb::list terminals_of(const grammar& of) {
        nb::list all;
        for (predict::symbol_index s = 0; s < of.symbols_end(); ++s) {
            const predict::symbol_entry& entry = of.symbol(s);
            if (entry.kind != predict::symbol_kind::terminal) continue;
            nb::dict one;
            one["number"] = entry.value;
            one["seen"] = entry.count;
            all.append(one);
        }
        return all;
    }

    [[nodiscard]] nb::list symbols_of(const model& of) const {
        const predict::symbol_table& symbols = of.symbols();
        nb::list all;
        for (uint32_t i = 0; i < symbols.size(); ++i) {
            const uint64_t times = seen(of.main().model(), i);
            const bool overflow = i == predict::symbol_table::overflow;
            if (overflow && times == 0) continue;
            const predict::symbol_state& state = symbols[i];
            nb::dict one;
            one["number"] = i;
            one["seen"] = times;
            one["context"] = state.site.context;
            one["stack"] = as_text(labels_.of(label_table::subject::context, state.site.context));
            one["function"] = as_text(labels_.of(label_table::subject::function, state.site.function));
            // Of what there was no room for, nothing is known.
            const char* const what = operation_names[static_cast<size_t>(state.site.what)];
            one["operation"] = overflow ? nb::object(nb::none()) : nb::object(nb::str(what));
            one["any_file"] = state.site.name_class == predict::symbol_table::any_class;
            std::array<char, predict::file_names::longest_pattern> pattern;
            one["file"] = as_text(names_.pattern_of(state.site.name_class, pattern));
            one["bytes"] = sizes_of(state.sizes);
            one["duration_ns"] = spread_of(state.durations.estimate());
            all.append(one);
        }
        return all;
    }

    static nb::list transitions_of(const model& of) {
        nb::list all;
        for (uint32_t i = 1; i < of.transitions().size(); ++i) {
            const predict::transition& way = of.transitions()[i];
            nb::dict one;
            one["before"] = way.from;
            one["after"] = way.to;
            one["count"] = way.count;
            one["gap_ns"] = spread_of(way.gaps.all());
            one["offsets"] = offsets_of(way.offsets);
            all.append(one);
        }
        return all;
    }

    calls::memory_bound memory_{SIZE_MAX};
    predict::file_names names_{memory_};
    label_table labels_{memory_};
    std::vector<std::unique_ptr<model>> models_;
    std::unique_ptr<grammar> grammar_;
};

}  // namespace

void add_saved_models(nb::module_& m) {
    nb::class_<saved_models>(m, "SavedModels", "What a file of models, or of one grammar, says.")
        .def(
            "__init__",
            [](saved_models* place, const nb::object& path) {
                const std::string name = path_of(path);
                const nb::gil_scoped_release others_run;
                new (place) saved_models(name);
            },
            nb::arg("path"), "Reads it all. ConfigError: it is damaged, or something else; names file and byte.")
        .def_prop_ro("kind", &saved_models::kind)
        .def_prop_ro("threads", &saved_models::threads)
        .def("length", &saved_models::length, nb::arg("index"))
        .def("thread", &saved_models::thread, nb::arg("index"));
    m.def("rules_of", rules_of, nb::arg("sequence"), "The rules of the grammar of a sequence of numbers.");
}

}  // namespace halcyon::python
