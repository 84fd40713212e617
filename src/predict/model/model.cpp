#include "predict/model/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <new>

namespace halcyon::predict {

namespace {

/// Forecasts go no farther, in bytes and in nanoseconds.
constexpr int64_t farthest = int64_t{1} << 60;

/// Steps of the two walks of each phase that are compared with what comes. They are made while the program waits.
constexpr size_t compared_walk = 64;

int64_t end_of(const policy::access& what, int64_t moved) {
    const int64_t bytes = moved >= 0 ? moved : what.bytes;
    return what.offset + std::max<int64_t>(bytes, 0);
}

bool same_access(const forecast& one, const forecast& other) {
    const policy::access &a = one.access.what, &b = other.access.what;
    return a.what == b.what && a.file == b.file && a.offset == b.offset && a.bytes == b.bytes;
}

}  // namespace

/// Where a forecast has come to: the files as they will be, and the places of call sites it came by.
struct model::walk {
    struct own_place {
        uint64_t walk = 0;
        uint32_t symbol = 0;
        int64_t start = policy::not_known;
        int64_t end = policy::not_known;
    };
    static constexpr size_t most_places = 128;

    uint64_t number = 0;
    const recent_files* files = nullptr;  // the model's until the first step, then its own
    recent_files own_files;
    uint32_t last = 0;
    bool ended = false;  // nothing is told of what comes behind
    int64_t end_ns = 0;  // of the last call, from the end of the last one that was seen
    double variance = 0;
    uint32_t new_files = 0;  // ids of files that are not there yet count down from the highest
    struct made_files {
        uint32_t name_class;
        uint32_t count;
    };
    std::array<made_files, 16> made = {};  // of classes with new files, as many as there is room for
    size_t made_classes = 0;
    std::array<own_place, most_places> own;

    [[nodiscard]] uint32_t next_new_file() const { return UINT32_MAX - new_files; }
    /// New files of a class until now.
    [[nodiscard]] uint32_t made_of(uint32_t name_class) const {
        for (size_t i = 0; i < made_classes; ++i) {
            if (made[i].name_class == name_class) return made[i].count;
        }
        return 0;
    }
    void make(uint32_t name_class) {
        ++new_files;
        size_t i = 0;
        while (i < made_classes && made[i].name_class != name_class) ++i;
        if (i == made.size()) return;
        if (i == made_classes) made[made_classes++] = {name_class, 0};
        ++made[i].count;
    }

    [[nodiscard]] const own_place* place_of(uint32_t symbol) const {
        const own_place& place = own[symbol % most_places];
        return place.walk == number && place.symbol == symbol ? &place : nullptr;
    }
};

model::model(const settings& chosen, const file_names& names)
    : settings_(chosen),
      names_(names),
      memory_(chosen.bound_bytes),
      table_memory_(chosen.bound_bytes / 2, memory_),
      predictor_({.bound_bytes = chosen.bound_bytes / 2, .cursors = chosen.cursors}, memory_),
      symbols_(settings_.cut_off, table_memory_),
      transitions_(table_memory_),
      phases_(chosen.least_pause_ns) {}

model::~model() {
    for (uint32_t i = 0; i < symbols_.size(); ++i) symbols_[i].sizes.release(table_memory_);
    for (uint32_t i = 0; i < transitions_.size(); ++i) {
        transitions_[i].files.release(table_memory_);
        transitions_[i].offsets.release(table_memory_);
        transitions_[i].gaps.release(table_memory_);
    }
    if (walk_ == nullptr) return;
    walk_->~walk();
    memory_.give_back(walk_, sizeof(walk));
}

/// The transition from the last call's symbol; null when there is no room.
transition* model::way_to(uint32_t symbol) {
    uint32_t& taken = symbols_[last_].transition;
    if (taken == transition_table::none || transitions_[taken].to != symbol) taken = transitions_.of(last_, symbol);
    return taken == transition_table::none ? nullptr : &transitions_[taken];
}

void model::append(const observed_call& call) {
    ++calls_;
    if (!symbols_.usable()) {
        ++unlearned_;
        return;
    }
    const uint32_t name_class = names_.class_of(call.what.file);
    const uint32_t symbol = symbols_.of({call.context, name_class, call.function, call.what.what});
    const int64_t end = call.start_ns + call.duration_ns;
    const int64_t gap = std::max<int64_t>(call.start_ns - call.wait_ns - last_end_, 0);
    const bool new_phase = began_ && gap > phases_.pause_ns();
    if (new_phase) next_phase_.learn(course_ahead(compared_walk), gap, call.start_ns);
    next_phase_.learn_call(symbol, new_phase, phases_.pause_ns(), call.start_ns, end);
    phases_.learn(began_ ? gap : -1, {.start_ns = call.start_ns,
                                      .end_ns = end,
                                      .wait_ns = call.wait_ns,
                                      .bytes = transfers(call.what.what) ? call.what.bytes : 0,
                                      .beside_others = call.beside_others});
    transition* const way = began_ ? way_to(symbol) : nullptr;
    if (symbol == symbol_table::overflow || (began_ && way == nullptr)) ++unlearned_;
    if (way != nullptr) {
        ++way->count;
        way->gaps.learn(gap, table_memory_);
        static_cast<void>(way->files.learn(files_.rank_of(call.what.file, name_class), table_memory_));
    }
    recent_files::file& file = files_.use(call.what.file, name_class);
    if (call.what.what == policy::operation::open) files_.open(file, call.truncates);
    learn_access(call, symbol, way, file);
    symbols_[symbol].durations.learn(call.duration_ns, call.beside_others);
    predictor_.append(symbol);
    last_ = symbol;
    last_end_ = end;
    began_ = true;
    if (new_phase) next_phase_.expect(course_ahead(compared_walk));
}

void model::learn_access(const observed_call& call, uint32_t symbol, transition* way, recent_files::file& file) {
    if (!transfers(call.what.what)) return;
    symbol_state& state = symbols_[symbol];
    state.sizes.learn(call.what.bytes, settings_.cut_off, table_memory_);
    if (call.what.offset < 0) return;
    if (way != nullptr) {
        offset_places places;
        files_.add_places(places, file);
        places.at[static_cast<uint32_t>(offset_base::own_start)] = state.own_start;
        places.at[static_cast<uint32_t>(offset_base::own_end)] = state.own_end;
        way->offsets.learn(places, call.what.offset, settings_.cut_off, table_memory_);
    }
    files_.access(file, call.what.offset, end_of(call.what, call.moved));
    state.own_start = file.start;
    state.own_end = file.end;
}

// --- forecasts ---

model::walk* model::begin_walk() {
    if (walk_ == nullptr) {
        void* const place = memory_.take(sizeof(walk));
        if (place == nullptr) return nullptr;
        walk_ = new (place) walk();
    }
    walk_->number = ++walks_;
    walk_->files = &files_;
    walk_->last = last_;
    walk_->ended = false;
    walk_->end_ns = 0;
    walk_->variance = 0;
    walk_->new_files = 0;
    walk_->made_classes = 0;
    return walk_;
}

/// The call of this symbol that would come next on this walk.
forecast model::expected(const walk& from, uint32_t symbol) const {
    const symbol_state& state = symbols_[symbol];
    const uint32_t found = transitions_.find(from.last, symbol);
    const transition* const way = found == transition_table::none ? nullptr : &transitions_[found];
    forecast result;
    result.symbol = symbol;
    result.name_class = state.site.name_class;
    policy::expected_access& access = result.access;
    access.what.what = state.site.what;
    access.duration_ns = state.durations.estimate().next();
    access.begins_ns = from.end_ns;
    if (way != nullptr) {
        const time_table::expectation gap = way->gaps.next(from.number);
        access.begins_ns += gap.ns;
        const auto deviation = static_cast<double>(gap.deviation_ns);
        access.deviation_ns =
            std::llround(std::min(std::sqrt(from.variance + deviation * deviation), static_cast<double>(farthest)));
    }
    const bool opens = access.what.what == policy::operation::open;
    const int rank =
        way == nullptr ? (opens ? static_cast<int>(recent_files::none) : 0) : way->files.next_on(from.number);
    const recent_files::file* file = nullptr;
    if (rank >= 0 && rank != static_cast<int>(recent_files::none))
        file = from.files->at(static_cast<uint32_t>(rank), result.name_class);
    // A file that is used without having been opened here: the one used last.
    if (file == nullptr && !opens) file = from.files->last();
    if (file != nullptr) {
        access.what.file = file->id;
        result.name_class = file->name_class;
    }
    access.new_file = opens && file == nullptr;
    if (access.new_file) access.what.file = from.next_new_file();
    if (access.new_file) result.new_files = from.made_of(result.name_class) + 1;
    if (!transfers(access.what.what)) return result;
    access.what.bytes = state.sizes.next(from.number);
    offset_places places;
    if (file != nullptr) from.files->add_places(places, *file);
    const walk::own_place* const own = from.place_of(symbol);
    places.at[static_cast<uint32_t>(offset_base::own_start)] = own == nullptr ? state.own_start : own->start;
    places.at[static_cast<uint32_t>(offset_base::own_end)] = own == nullptr ? state.own_end : own->end;
    access.what.offset =
        way == nullptr ? std::max<int64_t>(places.of(offset_base::end), 0) : way->offsets.next(places, from.number);
    // A distance that was added again and again, or that a file made up.
    if (access.what.offset > farthest) access.what.offset = policy::not_known;
    if (access.what.offset < 0) access.what.offset = std::max<int64_t>(places.of(offset_base::end), 0);
    return result;
}

void model::go(walk& on, const forecast& step) const {
    const policy::access& what = step.access.what;
    if (on.files != &on.own_files) {
        on.own_files = *on.files;
        on.files = &on.own_files;
    }
    if (step.access.new_file) on.make(step.name_class);
    recent_files::file& file = on.own_files.use(what.file, step.name_class);
    if (what.what == policy::operation::open) on.own_files.open(file, false);
    if (transfers(what.what) && what.offset >= 0) {
        on.own_files.access(file, what.offset, end_of(what, policy::not_known));
        on.own[step.symbol % walk::most_places] = {on.number, step.symbol, file.start, file.end};
    }
    const auto deviation = static_cast<double>(step.access.deviation_ns);
    on.variance = deviation * deviation;
    on.end_ns = step.access.begins_ns + step.access.duration_ns;
    on.last = step.symbol;
}

size_t model::next(std::span<forecast> out) {
    walk* const here = begin_walk();
    if (here == nullptr) return 0;
    size_t filled = 0;
    const auto expected_symbols = predictor_.next();
    for (const prediction& one : expected_symbols) {
        here->number = ++walks_;  // each looks at the next number of a sequence
        forecast step = expected(*here, one.symbol);
        step.symbol_probability = step.access.probability = one.probability;
        if (one.probability >= expected_symbols[0].probability * least_share) {
            if (filled < out.size()) out[filled++] = step;
            continue;
        }
        const auto told = out.first(filled);
        const auto same = std::ranges::find_if(told, [&](const forecast& f) { return same_access(f, step); });
        if (same != told.end()) same->access.probability += one.probability;
    }
    return filled;
}

template <class Each>
void model::each_ahead(walk* on, size_t most, Each each) {
    if (on == nullptr) return;
    prediction ahead;
    for (size_t i = 0; i < most && predictor_.step_ahead(on->number, ahead); ++i) {
        forecast step = expected(*on, ahead.symbol);
        step.symbol_probability = step.access.probability = ahead.probability;
        on->ended = !each(step) || step.access.begins_ns > farthest;
        if (on->ended) return;
        go(*on, step);
    }
}

size_t model::fill(walk* on, std::span<forecast> out) {
    size_t filled = 0;
    each_ahead(on, out.size(), [&](const forecast& step) {
        out[filled++] = step;
        return true;
    });
    return filled;
}

size_t model::ahead(std::span<forecast> out) {
    return fill(begin_walk(), out);
}

size_t model::further_ahead(std::span<forecast> out) {
    return walk_ == nullptr || walk_->ended ? 0 : fill(walk_, out);
}

size_t model::within(int64_t window_ns, std::span<forecast> out, bool& complete) {
    size_t filled = 0;
    complete = false;
    each_ahead(begin_walk(), longest_walk, [&](const forecast& step) {
        complete = step.access.begins_ns > window_ns;
        if (complete || filled == out.size()) return false;
        out[filled++] = step;
        return true;
    });
    return filled;
}

phase_course model::course_ahead(size_t most_steps) {
    phase_course walked;
    const int64_t pause = phases_.pause_ns();
    each_ahead(begin_walk(), most_steps, [&](const forecast& step) {
        if (step.access.begins_ns - walked.rest_ns > pause) {
            walked.begins_ns = step.access.begins_ns;
            return false;
        }
        walked.rest_ns = step.access.begins_ns + step.access.duration_ns;
        return true;
    });
    return or_habit(walked);
}

/// Where the walk came to no pause, what the phases before were like says when the next one begins.
phase_course model::or_habit(const phase_course& walked) const {
    if (walked.begins_ns != policy::not_known) return walked;
    return {phases_.rest_by_habit(last_end_).time_left_ns, phases_.next_by_habit(last_end_)};
}

policy::expected_phase model::phase() {
    policy::expected_phase rest;
    rest.calls_done = phases_.calls();
    const int64_t pause = phases_.pause_ns();
    int64_t end = 0;
    bool ended = false;
    double probability = 0;
    each_ahead(begin_walk(), longest_walk, [&](const forecast& step) {
        ended = step.access.begins_ns - end > pause;
        if (ended) return false;
        ++rest.calls_left;
        if (transfers(step.access.what.what)) rest.bytes_left += std::max<int64_t>(step.access.what.bytes, 0);
        end = step.access.begins_ns + step.access.duration_ns;
        probability = step.access.probability;
        return true;
    });
    if (!ended) return phases_.rest_by_habit(last_end_);
    rest.time_left_ns = end;
    rest.confidence = rest.calls_left == 0 ? 1 : probability;
    return rest;
}

}  // namespace halcyon::predict
