#include "predict/score/naive.hpp"

#include <algorithm>

namespace halcyon::predict {

namespace {

uint64_t pair_of(uint32_t before, uint32_t last) {
    return uint64_t{before} << 32 | last;
}

}  // namespace

naive_forecast naive_predictor::after(const follower& what) const {
    naive_forecast expected{what.symbol, what.same_file ? file_ : what.file, policy::not_known, policy::not_known,
                            what.gap_ns};
    if (what.transfers) {
        expected.offset = std::max<int64_t>(end_ + what.step, 0);
        expected.bytes = what.bytes;
    }
    return expected;
}

std::array<naive_forecast, naive_predictors> naive_predictor::next() const {
    std::array<naive_forecast, naive_predictors> result;
    if (accessed_) {
        result[static_cast<uint32_t>(naive::contiguous)] = {naive_forecast::no_symbol, file_, end_, bytes_, 0};
        result[static_cast<uint32_t>(naive::immediate)] = {last_, file_, start_, bytes_, 0};
    }
    if (const auto found = after_one_.find(last_); found != after_one_.end())
        result[static_cast<uint32_t>(naive::last_value)] = after(found->second);
    if (const auto found = after_two_.find(pair_of(before_, last_)); found != after_two_.end())
        result[static_cast<uint32_t>(naive::markov)] = after(found->second.by_symbol.at(found->second.most_often));
    return result;
}

void naive_predictor::learn(const observed_call& call, uint32_t symbol, int64_t gap_ns) {
    const bool access = transfers(call.what.what) && call.what.offset >= 0;
    const bool same_file = call.what.file == file_;
    const int64_t from = same_file ? end_ : 0;
    const follower now{symbol,          1,     access, same_file, call.what.file, access ? call.what.offset - from : 0,
                       call.what.bytes, gap_ns};
    if (last_ != naive_forecast::no_symbol) {
        after_one_[last_] = now;
        followers& known = after_two_[pair_of(before_, last_)];
        follower& kept = known.by_symbol[symbol];
        const uint64_t count = kept.count + 1;
        kept = now;
        kept.count = count;
        if (count >= known.most) {
            known.most = count;
            known.most_often = symbol;
        }
    }
    before_ = last_;
    last_ = symbol;
    if (!same_file) end_ = start_ = 0;
    file_ = call.what.file;
    if (call.what.what == policy::operation::open) end_ = start_ = 0;
    if (!access) return;
    accessed_ = true;
    start_ = call.what.offset;
    bytes_ = call.what.bytes;
    end_ = start_ + std::max<int64_t>(call.moved >= 0 ? call.moved : call.what.bytes, 0);
}

}  // namespace halcyon::predict
