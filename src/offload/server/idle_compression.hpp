#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace halcyon::offload {

/// Decides `compression: when-idle` from the share of an iteration that storing takes: on below a quarter, off above
/// seven tenths or when a client waits for room. The gap keeps it from swinging.
class idle_compression {
  public:
    /// After a file: `busy_ns` it took, `iteration_ns` an iteration takes now (0: unknown). Returns the new state when
    /// it changed.
    std::optional<bool> observe(int64_t busy_ns, int64_t iteration_ns, bool client_waits) {
        if (iteration_ns <= 0) return std::nullopt;
        const double now = static_cast<double>(busy_ns) / static_cast<double>(iteration_ns);
        share_ = share_ < 0 ? now : 0.5 * share_ + 0.5 * now;
        const bool was = on_;
        if (client_waits || share_ > 0.7) {
            on_ = false;
            hold_ = 4;  // files to wait before the next attempt
        } else if (hold_ > 0) {
            --hold_;
        } else if (share_ < 0.25) {
            on_ = true;
        }
        return on_ == was ? std::nullopt : std::optional(on_);
    }
    [[nodiscard]] bool on() const { return on_; }

  private:
    bool on_ = false;
    int hold_ = 0;
    double share_ = -1;
};

}  // namespace halcyon::offload
