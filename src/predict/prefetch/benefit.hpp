#pragma once

#include <array>
#include <cstdint>

namespace halcyon::predict::prefetch {

/// Whether it pays to ask for reads ahead: reads that were asked for took so long, those that were left alone so long
/// (the control), of each order of size; from what that saved goes what our own work took, and the time that the
/// storage spent on bytes that nobody read. Older figures count half with each judgement.
class benefit {
  public:
    void read_asked(int64_t bytes, int64_t ns);
    void read_control(int64_t bytes, int64_t ns);
    void unused(int64_t bytes);
    void worked(int64_t ns) { work_ns_ += ns; }

    /// Whether a read of this size that was asked for had to wait: it took more than half of what the control did, or
    /// more than twice as long as the shortest ones lately.
    [[nodiscard]] bool had_to_wait(int64_t bytes, int64_t ns) const;
    /// How much shorter than the control such a read was; below 0: longer; 0: there was no control yet.
    [[nodiscard]] int64_t shorter_by(int64_t bytes, int64_t ns) const;

    /// Enough has come together since the last judgement.
    [[nodiscard]] bool is_due() const {
        return reads_ >= due_reads && (controls_ >= due_controls || reads_ >= late_reads);
    }
    struct judgement {
        int64_t saved_ns = 0;  ///< below 0: lost
        int64_t cost_ns = 0;   ///< of what was lost or worked in vain, for how long to leave it
        bool pays = false;
    };
    judgement judge();

  private:
    static constexpr uint32_t due_reads = 32;
    static constexpr uint32_t due_controls = 3;
    static constexpr uint32_t late_reads = 256;
    struct durations {
        double count = 0;
        double ns = 0;
        double longest = 0;
        double shortest = 0;  // 0: none yet
        void add(double took);
        void age();
        /// Without the longest one of several: one that was interrupted says nothing.
        [[nodiscard]] double mean() const { return count >= 3 ? (ns - longest) / (count - 1) : ns / count; }
    };
    struct size_class {
        durations asked, control;
    };
    [[nodiscard]] static unsigned class_of(int64_t bytes);

    std::array<size_class, 64> classes_{};
    double control_bytes_ = 0;
    double control_ns_ = 0;
    double unused_bytes_ = 0;
    int64_t work_ns_ = 0;
    uint32_t reads_ = 0;
    uint32_t controls_ = 0;
};

}  // namespace halcyon::predict::prefetch
