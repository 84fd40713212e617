#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "predict/model/model.hpp"
#include "predict/score/naive.hpp"

namespace halcyon::predict {

/// How the forecasts of one call did, made when the call before it had ended. Scores are from 0 to 1; NaN: the call has
/// nothing to score (an open has no offset).
struct call_score {
    /// Two ways to weigh several forecasts: all alike, 1/n, as the thesis does; and by their probabilities.
    struct weighed {
        float even;
        float likely;
    };
    weighed context;         ///< the call site was predicted: figure 7.2
    weighed size_error;      ///< equation 7.2, a share of the observed size: figure 7.4
    weighed offset;          ///< the offset was predicted, in the right file: table 7.6
    weighed hit;             ///< equation 7.3, table 7.7; nothing where a transfer's place is not known
    float file;              ///< the most probable forecast named the right file, of a new one: its path
    double gap_observed_ns;  ///< from the end of the call before to the beginning of this one
    double gap_expected_ns;  ///< of the most probable forecast; 0 when there was none
    uint32_t symbol;         ///< of the model
    uint32_t grammar_runs;   ///< size of the grammar: figure 7.3
    float forecasts;         ///< how many there were

    struct naive_score {
        float context;
        float size_error;
        float offset;
        float hit;
        double gap_expected_ns;
    };
    std::array<naive_score, naive_predictors> naive;
};

/// Lets a model learn a recorded thread call by call, and scores each forecast: the learning phase included. It never
/// knows more than it would have known then.
class replay {
  public:
    replay(const model::settings& settings, calls::memory_bound& names_memory);

    /// The next call. `path`: of its file, "" when not known; is looked at when the file comes for the first time.
    call_score score(const observed_call& call, std::string_view path);

    [[nodiscard]] model& learnt() { return model_; }
    [[nodiscard]] const file_names& names() const { return names_; }

  private:
    [[nodiscard]] bool names_right_file(const forecast& top, const observed_call& call, std::string_view path) const;
    void name_file(uint32_t file, std::string_view path);

    file_names names_;
    model model_;
    naive_predictor naive_;
    std::vector<bool> named_;
    std::array<forecast, cursor_set::most_cursors> forecasts_;
};

}  // namespace halcyon::predict
