#pragma once

namespace halcyon::coordinate {

/// How far an application's own forecasts are believed. Only what harms others is corrected: who says that a phase will
/// be shorter than it is would go before them.
///
/// - The first forecast of a phase is multiplied by what those before it were short by, on average.
/// - An end that is put off, again and again, is not believed: what was put off and not yet worked off is left.
///
/// Times are of work: seconds with the turn, each times its speed relative to alone.
class forecast_trust {
  public:
    /// A phase begins; `alone_s` is its first forecast, 0: none.
    void begin(double alone_s);
    /// After `worked_s` of it, `left_s` is said to be left.
    void told(double worked_s, double left_s);
    /// The phase is over, after `worked_s`.
    void ended(double worked_s);

    /// Of `told_s`, which is negative where it is not known.
    [[nodiscard]] double left_s(double told_s, double worked_s) const;
    [[nodiscard]] double factor() const { return factor_; }

  private:
    double factor_ = 1;  ///< at least 1
    double first_s_ = 0;
    double end_s_ = -1;     ///< of the phase, by the latest forecast; negative: none yet
    double worked_s_ = 0;   ///< when it was told
    double put_off_s_ = 0;  ///< and not yet worked off
};

}  // namespace halcyon::coordinate
