#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "predict/grammar/predictor.hpp"
#include "predict/model/file_names.hpp"
#include "predict/model/next_phase.hpp"
#include "predict/model/phases.hpp"
#include "predict/model/symbol_table.hpp"
#include "predict/model/transition_table.hpp"
#include "predict/tables/limits.hpp"
#include "predict/tables/recent_files.hpp"

namespace halcyon::predict {

/// What a model expects.
struct forecast {
    policy::expected_access access;
    uint32_t symbol = 0;            ///< of the model
    double symbol_probability = 0;  ///< that it comes from this call site; access.probability: that it is this access
    uint32_t name_class = 0;        ///< of the file, see file_names
    uint32_t new_files = 0;  ///< how many new files of this class come before, and this one, when it opens a new one
};

/// Knows the I/O of one thread, and says what comes next (Dorier 2014, section 7.2): a grammar of where in the program
/// calls come from, and tables of what they do there. It learns each call, and forgets nothing until its memory ends.
///
/// One thread at a time. Nothing throws and nothing is allocated but memory of the bound.
class model {
  public:
    struct settings {
        size_t bound_bytes = size_t{4} << 20;  ///< of everything: half for the grammar, the rest for the tables
        limits cut_off;
        int64_t least_pause_ns = 10'000'000;  ///< shorter ones never part phases
        unsigned cursors = cursor_set::most_cursors;
    };

    /// `names` knows the classes of the files; it must outlive the model.
    model(const settings& chosen, const file_names& names);
    ~model();
    model(const model&) = delete;
    model& operator=(const model&) = delete;

    void append(const observed_call& call);

    /// What may come next: one forecast for each call site that may, the most probable first, as far as they are at
    /// least a quarter as probable as that one. Others that would do the same access make it more probable. Returns how
    /// many of `out` were filled; 0: nothing is known.
    size_t next(std::span<forecast> out);
    /// What comes next, and then, and so on, each time what is most probable. Fewer than asked when nothing is known
    /// any more.
    size_t ahead(std::span<forecast> out);
    /// What comes behind all that the last ahead() filled in, nothing having been learnt or asked meanwhile.
    size_t further_ahead(std::span<forecast> out);
    /// All accesses that are expected to begin within `window_ns` of the end of the last call. Returns how many of
    /// `out` were filled; `complete`: there are no more of them.
    size_t within(int64_t window_ns, std::span<forecast> out, bool& complete);
    /// What is left of the burst of calls under way. Walks ahead to the next pause, `longest_walk` calls at most; what
    /// is beyond follows from the bursts before.
    [[nodiscard]] policy::expected_phase phase();
    /// When the next burst begins, by the same walk.
    [[nodiscard]] policy::expected_period period() { return next_phase_.period(course_ahead(longest_walk), 0); }
    /// The same of a walk that was made, `elapsed_ns` after the last call.
    [[nodiscard]] policy::expected_period period(const phase_course& walked, int64_t elapsed_ns) const {
        return next_phase_.period(or_habit(walked), elapsed_ns);
    }
    static constexpr size_t longest_walk = 4096;
    static constexpr double least_share = 0.25;

    [[nodiscard]] const predictor& main() const { return predictor_; }
    [[nodiscard]] const symbol_table& symbols() const { return symbols_; }
    [[nodiscard]] const transition_table& transitions() const { return transitions_; }
    [[nodiscard]] const phases& bursts() const { return phases_; }
    [[nodiscard]] const file_names& names() const { return names_; }
    [[nodiscard]] const recent_files& files() const { return files_; }
    /// Calls so far; of the learnt ones those whose symbol or transition found no room.
    [[nodiscard]] uint64_t calls() const { return calls_; }
    [[nodiscard]] uint64_t unlearned() const { return unlearned_; }
    /// End of the last call; what forecasts count times from.
    [[nodiscard]] int64_t last_end_ns() const { return last_end_; }
    [[nodiscard]] uint32_t last_symbol() const { return last_; }
    [[nodiscard]] size_t bytes_used() const { return memory_.used(); }
    [[nodiscard]] size_t bytes_peak() const { return memory_.peak(); }

    /// For archives; `class_of` translates the numbers of classes of files between here and there. Read into a new one:
    /// the input is about to begin anew.
    template <class Self, class Archive, class ClassOf>
    static void each_field(Self& self, Archive& archive, const ClassOf& class_of);

  private:
    struct walk;
    template <class Self, class Archive, class ClassOf>
    static void each_symbol(Self& self, Archive& archive, uint32_t count, const ClassOf& class_of);
    template <class Self, class Archive>
    static void each_transition(Self& self, Archive& archive, uint32_t count);

    [[nodiscard]] walk* begin_walk();
    [[nodiscard]] forecast expected(const walk& from, uint32_t symbol) const;
    void go(walk& on, const forecast& step) const;
    template <class Each>
    void each_ahead(walk* on, size_t most, Each each);
    size_t fill(walk* on, std::span<forecast> out);
    [[nodiscard]] phase_course course_ahead(size_t most_steps);
    [[nodiscard]] phase_course or_habit(const phase_course& walked) const;
    void learn_access(const observed_call& call, uint32_t symbol, transition* way, recent_files::file& file);
    transition* way_to(uint32_t symbol);

    settings settings_;
    const file_names& names_;
    calls::memory_bound memory_;
    calls::memory_bound table_memory_;
    predictor predictor_;
    symbol_table symbols_;
    transition_table transitions_;
    recent_files files_;
    phases phases_;
    next_phase next_phase_;
    walk* walk_ = nullptr;
    uint64_t walks_ = 0;
    uint32_t last_ = 0;
    bool began_ = false;
    int64_t last_end_ = 0;
    uint64_t calls_ = 0;
    uint64_t unlearned_ = 0;
};

template <class Self, class Archive, class ClassOf>
void model::each_symbol(Self& self, Archive& archive, uint32_t count, const ClassOf& class_of) {
    for (uint32_t i = 1; i < count && archive.good(); ++i) {
        call_site site;
        if constexpr (!Archive::reads) {
            site = self.symbols_[i].site;
            site.name_class = class_of(site.name_class);
        }
        archive.number(site.context);
        archive.number(site.function);
        archive.number(site.what);
        archive.number(site.name_class);
        if constexpr (Archive::reads) {
            if (site.what > policy::operation::sync) return archive.fail("an unknown operation");
            site.name_class = class_of(site.name_class);
            if (self.symbols_.find(site) != symbol_table::overflow) return archive.fail("a call site twice");
            if (self.symbols_.restore(site) != i) return archive.fail(Archive::too_large);
        }
        size_table::each_field(self.symbols_[i].sizes, archive);
        time_alone::each_field(self.symbols_[i].durations, archive);
    }
}

template <class Self, class Archive>
void model::each_transition(Self& self, Archive& archive, uint32_t count) {
    for (uint32_t i = 1; i < count && archive.good(); ++i) {
        uint32_t from = 0;
        uint32_t to = 0;
        if constexpr (!Archive::reads) {
            from = self.transitions_[i].from;
            to = self.transitions_[i].to;
        }
        archive.number(from);
        archive.number(to);
        if constexpr (Archive::reads) {
            if (from >= self.symbols_.size() || to >= self.symbols_.size())
                return archive.fail("a transition between unknown symbols");
            if (self.transitions_.find(from, to) != transition_table::none) return archive.fail("a transition twice");
            if (self.transitions_.of(from, to) != i) return archive.fail(Archive::too_large);
        }
        auto& way = self.transitions_[i];
        archive.number(way.count);
        local_sequence::each_field(way.files, archive, recent_files::none + 1);
        offset_table::each_field(way.offsets, archive);
        time_table::each_field(way.gaps, archive);
    }
}

template <class Self, class Archive, class ClassOf>
void model::each_field(Self& self, Archive& archive, const ClassOf& class_of) {
    uint32_t symbols = self.symbols_.size();
    uint32_t transitions = self.transitions_.size();
    archive.number(symbols);
    archive.number(transitions);
    if constexpr (Archive::reads) {
        archive.use(self.table_memory_);
        // They must have room; what each of them knows has what is left.
        if (archive.good() && !(self.symbols_.reserve(symbols) && self.transitions_.reserve(transitions)))
            archive.fail(Archive::too_large);
    }
    each_symbol(self, archive, symbols, class_of);
    each_transition(self, archive, transitions);
    phases::each_field(self.phases_, archive);
    next_phase::each_field(self.next_phase_, archive);
    if constexpr (Archive::reads)
        archive.grammar(self.predictor_, self.symbols_.size());
    else
        archive.grammar(self.predictor_);
}

}  // namespace halcyon::predict
