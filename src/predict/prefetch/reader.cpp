#include "predict/prefetch/reader.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace halcyon::predict::prefetch {

namespace {

/// Adds the time from here to the end of the block to several sums.
class work_time {
  public:
    work_time(int64_t& sum, counts& told, benefit& gain)
        : sum_(sum), told_(told), gain_(gain), begin_(monotonic_ns()) {}
    ~work_time() {
        const int64_t took = monotonic_ns() - begin_;
        sum_ += took;
        told_.add(count::work_ns, took);
        gain_.worked(took);
    }
    work_time(const work_time&) = delete;
    work_time& operator=(const work_time&) = delete;

  private:
    int64_t& sum_;
    counts& told_;
    benefit& gain_;
    int64_t begin_;
};

}  // namespace

/// Where a walk has come to.
struct reader::course {
    uint32_t file;
    int64_t end;
    int64_t run;
};

void reader::begins(uint32_t file, int64_t offset) {
    if (count_ == 0) return;
    expected& first = at(0);
    if (first.what != fate::requested || first.file != file || first.offset != offset || first.begun) return;
    first.became = requests_.end(first.request);
    first.begun = true;
}

void reader::ended(const read& what, thread_model& model) {
    counts_.add(count::reads);
    follow(what);
    if (what.end_ns < rest_until_ns_) {
        counts_.add(count::reads_off);
        return;
    }
    files_.note(what.file, what.descriptor);
    in_vain_ = requested_ > 0 ? 0 : in_vain_ + 1;
    bool surprised = false;
    if (count_ > 0) {
        surprised = !is_as_expected(at(0), what);
        if (surprised) {
            counts_.add(count::unexpected);
            trust_[at(0).symbol % trust_.size()] /= 4;
            depth_ = std::max(depth_ / 2, least_depth);
        } else {
            take_first(what);
        }
    }
    if (surprised || is_worth_a_look()) {
        const work_time here(work_ns_, counts_, gain_);
        if (!surprised && lacks_ == lack::reads) depth_ = std::min(depth_ * 2, most_expected);
        expect(model);
    }
    if (until_ask_ > 0) --until_ask_;
    if ((until_ask_ == 0 || surprised) && decided_ < count_) {
        const work_time here(work_ns_, counts_, gain_);
        ask(what.end_ns);
    }
    judge(what.end_ns);
}

/// Whether the model may tell more than what is expected already.
bool reader::is_worth_a_look() const {
    if (count_ <= made_ / 2) return true;
    // What was improbable becomes probable when what comes before it has come.
    return lacks_ == lack::certainty && 2 * requested_bytes_ <= reach_.bytes() && count_ + made_ / 8 < made_;
}

void reader::follow(const read& what) {
    const bool goes_on = what.file == last_file_ && what.offset == last_end_;
    run_ = goes_on ? run_ + what.moved : what.offset == 0 ? longest_start : what.moved;
    last_file_ = what.file;
    last_end_ = what.offset + what.moved;
}

/// There, and of about that size.
bool reader::is_as_expected(const expected& one, const read& what) {
    return one.file == what.file && one.offset == what.offset && one.bytes <= 2 * what.bytes &&
           what.bytes <= 2 * one.bytes;
}

void reader::take_first(const read& what) {
    expected& first = at(0);
    counts_.add(count::predicted);
    uint8_t& trust = trust_[first.symbol % trust_.size()];
    trust = static_cast<uint8_t>(std::min<int>(trust + 1, most_trust));
    if (trust == trusted) decided_ = until_ask_ = 0;  // those that are expected already may be worth it now
    switch (first.what) {
        case fate::undecided:
            counts_.add(count::undecided);
            break;
        case fate::contiguous:
            counts_.add(count::contiguous);
            break;
        case fate::unsure:
            counts_.add(count::unsure);
            break;
        case fate::not_open:
            counts_.add(count::not_open);
            break;
        case fate::unfit:
            counts_.add(count::unfit);
            break;
        case fate::control:
            counts_.add(count::control);
            gain_.read_control(what.moved, what.duration_ns);
            reach_.read_other(what.end_ns - what.duration_ns, what.end_ns, what.moved);
            break;
        case fate::requested:
            end_request(first, what);
            break;
    }
    first_ = (first_ + 1) % most_expected;
    --count_;
    if (decided_ > 0) --decided_;
}

void reader::end_request(expected& one, const read& what) {
    const outcome became = one.begun ? one.became : requests_.end(one.request);
    give_back(one);
    counts_.add(count::used_bytes, one.requested_bytes);
    if (became == outcome::cached) {
        counts_.add(count::cached);
        ++cached_in_a_row_;
        return;
    }
    cached_in_a_row_ = 0;
    if (became == outcome::withdrawn) return counts_.add(count::late);
    if (became != outcome::asked && became != outcome::taken) {
        counts_.add(count::failed);
        if (became == outcome::other_file) files_.forget(one.file);
        return;
    }
    const bool late = became == outcome::taken || gain_.had_to_wait(what.moved, what.duration_ns);
    counts_.add(late ? count::late : count::in_time);
    reach_.read_asked(what.end_ns - what.duration_ns, what.end_ns, what.moved, late);
    const int64_t shorter = gain_.shorter_by(what.moved, what.duration_ns);
    counts_.add(shorter >= 0 ? count::shorter_ns : count::longer_ns, shorter >= 0 ? shorter : -shorter);
    gain_.read_asked(what.moved, what.duration_ns);
}

void reader::give_back(const expected& one) {
    with_.memory.give_back(number_, one.requested_bytes);
    --requested_;
    requested_bytes_ -= one.requested_bytes;
}

// --- what comes next ---

/// The queue anew, from where the thread is now.
void reader::expect(thread_model& model) {
    predict::model* const knows = model.borrow();
    if (knows == nullptr) return;
    const size_t wanted = std::min<size_t>(most_steps, size_t{depth_} * 2 + 16);
    const size_t steps = knows->ahead({steps_.data(), wanted});
    model.give_back();
    before_count_ = count_;
    for (uint32_t i = 0; i < count_; ++i) before_[i] = at(i);
    first_ = count_ = decided_ = 0;
    course gone{last_file_, last_end_, run_};
    uint32_t hint = 0;
    for (size_t i = 0; i < steps && count_ < depth_; ++i) {
        const policy::access& what = steps_[i].access.what;
        if (what.what != policy::operation::read || what.offset < 0 || what.bytes <= 0) continue;
        const bool goes_on = what.file == gone.file && what.offset == gone.end;
        gone.run = goes_on ? gone.run + what.bytes : what.offset == 0 ? longest_start : what.bytes;
        gone.file = what.file;
        gone.end = what.offset + what.bytes;
        expected& fresh = queue_[count_++];
        fresh = {};
        fresh.file = what.file;
        fresh.symbol = steps_[i].symbol;
        fresh.offset = what.offset;
        fresh.bytes = what.bytes;
        fresh.probability = steps_[i].access.probability;
        fresh.goes_on = goes_on && gone.run > longest_start;
        keep_request(fresh, hint);
    }
    made_ = count_;
    for (uint32_t i = 0; i < before_count_; ++i) drop(before_[i]);
}

/// It has one if it had one before. `hint`: where among those before it is looked for first.
void reader::keep_request(expected& fresh, uint32_t& hint) {
    for (uint32_t tries = 0; tries < before_count_; ++tries) {
        expected& old = before_[(hint + tries) % before_count_];
        if (old.file != fresh.file || old.offset != fresh.offset) continue;
        hint = (hint + tries + 1) % before_count_;
        if (old.what != fate::requested && old.what != fate::control) return;
        fresh.what = old.what;
        fresh.request = old.request;
        fresh.requested_bytes = old.requested_bytes;
        fresh.begun = old.begun;
        fresh.became = old.became;
        old.what = fate::undecided;
        return;
    }
}

/// It is not expected any more.
void reader::drop(expected& one) {
    if (one.what != fate::requested) return;
    one.what = fate::undecided;
    give_back(one);
    const outcome became = one.begun ? one.became : requests_.end(one.request);
    if (became == outcome::asked || became == outcome::taken) gain_.unused(one.requested_bytes);
}

// --- what is asked for ---

void reader::ask(int64_t now_ns) {
    with_.memory.look(now_ns);
    bool asked = false;
    lacks_ = lack::reads;
    for (; decided_ < count_; ++decided_) {
        expected& one = at(decided_);
        if (one.what != fate::undecided && one.what != fate::unsure) continue;
        const open_files::place* where = nullptr;
        one.what = fate_of(one, where);
        if (one.what == fate::unsure) lacks_ = lack::certainty;
        if (one.what == fate::control) in_vain_ = 0;
        if (one.what != fate::requested) continue;
        if (requested_ > 0 && requested_bytes_ + one.bytes > reach_.bytes()) {
            one.what = fate::undecided;
            lacks_ = lack::nothing;
            break;
        }
        if (!request_range(one, *where)) {
            one.what = fate::undecided;
            counts_.add(count::limited);
            lacks_ = lack::nothing;
            break;
        }
        asked = true;
    }
    until_ask_ = std::max<uint32_t>(requested_ / 8, 1);
    if (!asked) return;
    in_vain_ = 0;
    if (!with_.asks.wake(number_)) rest(count::off_no_thread, longest_rest_ns / least_rest, now_ns);
}

reader::fate reader::fate_of(const expected& one, const open_files::place*& where) {
    if (one.goes_on) return fate::contiguous;
    if (one.probability < with_.chosen.least_probability || trust_[one.symbol % trust_.size()] < trusted)
        return fate::unsure;
    where = files_.find(one.file);
    if (where == nullptr) return fate::not_open;
    if (!where->reads_ahead) return fate::unfit;
    return is_control() ? fate::control : fate::requested;
}

/// Not each time the same distance: it could be that of a loop.
bool reader::is_control() {
    if (until_control_ > 0) {
        --until_control_;
        return false;
    }
    random_ ^= random_ << 13;  // Marsaglia 2003: xorshift
    random_ ^= random_ >> 17;
    random_ ^= random_ << 5;
    const uint32_t every = with_.chosen.control_every * fewer_controls_;
    until_control_ = every / 2 + random_ % every;
    return true;
}

bool reader::request_range(expected& one, const open_files::place& where) {
    // Of one that has no room as a whole, the beginning.
    one.requested_bytes = std::min(one.bytes, with_.memory.most() / 4);
    if (one.requested_bytes <= 0 || !with_.memory.take(number_, one.requested_bytes)) return false;
    if (!requests_.push({where, one.offset, one.requested_bytes}, one.request)) {
        with_.memory.give_back(number_, one.requested_bytes);
        return false;
    }
    ++requested_;
    requested_bytes_ += one.requested_bytes;
    counts_.add(count::asked);
    counts_.add(count::asked_bytes, one.requested_bytes);
    return true;
}

// --- whether it pays ---

void reader::judge(int64_t now_ns) {
    if (in_vain_ > patience) return rest(count::off_nothing, work_ns_, now_ns);
    const bool is_cached = cached_in_a_row_ >= cached_patience;
    if (!is_cached && !gain_.is_due()) return;
    const int64_t asking = with_.asks.take_work(number_);
    counts_.add(count::work_ns, asking);
    gain_.worked(asking);
    work_ns_ += asking;
    if (is_cached) return rest(count::off_cached, work_ns_, now_ns);
    const benefit::judgement found = gain_.judge();
    if (!found.pays && !with_.chosen.always) {
        if (++vain_judgements_ >= most_vain) rest(count::off_no_gain, found.cost_ns, now_ns);
        return;
    }
    vain_judgements_ = 0;
    reach_.age();
    fewer_controls_ = std::min(fewer_controls_ * 4, fewest_controls);
    rest_factor_ = least_rest;
    work_ns_ = 0;
}

void reader::rest(count why, int64_t cost_ns, int64_t now_ns) {
    counts_.add(why);
    rest_until_ns_ = now_ns + std::min(std::max<int64_t>(cost_ns, 20'000) * rest_factor_, longest_rest_ns);
    rest_factor_ = std::min(rest_factor_ * 2, longest_rest);
    for (uint32_t i = 0; i < count_; ++i) drop(at(i));
    count_ = decided_ = in_vain_ = cached_in_a_row_ = 0;
    depth_ = least_depth;
    fewer_controls_ = 1;
    vain_judgements_ = 0;
    work_ns_ = 0;
}

}  // namespace halcyon::predict::prefetch
