#pragma once

#include <cstdint>

namespace halcyon::predict::prefetch {

/// How far ahead of a thread's reads to ask: far enough to keep the storage busy while the program does not read, and
/// no farther, since every read that was not foreseen waits for all that was asked for before it.
///
/// It grows when a read had to wait after one that had not, up to what the storage delivers in the longest pause, with
/// a quarter on top. How fast that is, is measured from one read that had to wait to the next one, unless the program
/// did something else most of that time: until the second one came, the storage had no rest. It may deliver in bunches.
class reach {
  public:
    /// A read that was asked for; `waited`: for the storage.
    void read_asked(int64_t begin_ns, int64_t end_ns, int64_t bytes, bool waited);
    /// One that was left alone, and waited for the storage itself.
    void read_other(int64_t begin_ns, int64_t end_ns, int64_t bytes);
    /// Something was judged: what was so far counts less.
    void age();

    [[nodiscard]] int64_t bytes() const { return bytes_; }

  private:
    static constexpr int64_t least = int64_t{512} << 10;
    static constexpr int64_t farthest = int64_t{1} << 40;

    void see_pause(int64_t begin_ns);
    void measure(int64_t end_ns, int64_t bytes);
    [[nodiscard]] int64_t enough(int64_t bytes) const;

    int64_t bytes_ = least;
    double bytes_per_ns_ = 0;  // 0: not known
    // Since a read that had to wait: its end, and then the bytes and the time between reads.
    int64_t since_ns_ = 0;
    int64_t since_bytes_ = 0;
    int64_t since_paused_ns_ = 0;
    double pause_ns_ = 0;  // the longest one, lately
    int64_t end_ns_ = 0;   // of the last read
    bool waited_ = true;
    bool waited_lately_ = false;
};

}  // namespace halcyon::predict::prefetch
