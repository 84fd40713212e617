#pragma once

#include <cstdint>

namespace halcyon::policy {

/// The share of a file system's bandwidth that writers without Halcyon take, from the slow-down of those with it.
///
/// Those known move at some share of the bandwidth; where they should move faster and do not, the storage is at its
/// limit, and the rest is taken by others. A mean over the latest observations, 0 unless the slow-down is twice its
/// standard error: at least a tenth, and seen 16 times.
class unseen_writer {
  public:
    /// `remembered`: observations that count. It follows a change in about as many.
    explicit unseen_writer(double remembered = 64) : remembered_(remembered) {}

    /// Over some time the known ones took the share `measured` of the bandwidth; `expected` if they had it for
    /// themselves (the sum over them of demand times speed). Ignored: shares that are not finite or not above 0.
    void observe(double expected, double measured);
    /// 0 up to below 1.
    [[nodiscard]] double share() const;
    [[nodiscard]] double standard_error() const;
    void clear() { *this = unseen_writer(remembered_); }

  private:
    double remembered_;
    double count_ = 0;    ///< of observations that still count
    double deficit_ = 0;  ///< mean of 1 - measured / expected
    double spread_ = 0;   ///< its mean square deviation
    double free_ = 0;     ///< mean of 1 - measured
};

}  // namespace halcyon::policy
