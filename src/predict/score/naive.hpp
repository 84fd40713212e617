#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "predict/model/observed_call.hpp"

namespace halcyon::predict {

/// The predictors that a forecast has to beat. All are told the symbols of the model, so that they differ in how they
/// predict and not in what they know.
enum class naive : uint8_t {
    contiguous,  ///< the same size again, behind the access before (the kernel's read-ahead)
    immediate,   ///< the same access again, at once (I/O schedulers' anticipation)
    last_value,  ///< what came after this symbol the last time
    markov,      ///< what came most often after these two symbols, with the values it had the last time
};
inline constexpr uint32_t naive_predictors = 4;
inline constexpr const char* naive_names[naive_predictors] = {"contiguous", "immediate", "last-value", "markov-2"};

/// What they expect. Without a symbol they say nothing of it.
struct naive_forecast {
    static constexpr uint32_t no_symbol = UINT32_MAX;
    uint32_t symbol = no_symbol;
    uint32_t file = 0;
    int64_t offset = policy::not_known;  ///< not_known: no transfer
    int64_t bytes = policy::not_known;
    int64_t gap_ns = 0;
};

class naive_predictor {
  public:
    [[nodiscard]] std::array<naive_forecast, naive_predictors> next() const;
    /// `gap_ns`: since the end of the call before.
    void learn(const observed_call& call, uint32_t symbol, int64_t gap_ns);

  private:
    /// What came after a state the last time.
    struct follower {
        uint32_t symbol = 0;
        uint64_t count = 0;
        bool transfers = false;
        bool same_file = true;
        uint32_t file = 0;
        int64_t step = 0;  // from the end of the access before
        int64_t bytes = 0;
        int64_t gap_ns = 0;
    };
    struct followers {
        std::unordered_map<uint32_t, follower> by_symbol;
        uint32_t most_often = naive_forecast::no_symbol;
        uint64_t most = 0;
    };
    [[nodiscard]] naive_forecast after(const follower& what) const;

    std::unordered_map<uint32_t, follower> after_one_;
    std::unordered_map<uint64_t, followers> after_two_;
    uint32_t last_ = naive_forecast::no_symbol;
    uint32_t before_ = naive_forecast::no_symbol;
    uint32_t file_ = 0;
    int64_t start_ = 0;
    int64_t end_ = 0;
    int64_t bytes_ = 0;
    bool accessed_ = false;
};

}  // namespace halcyon::predict
