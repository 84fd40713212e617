#pragma once

#include <array>
#include <cstdint>

namespace halcyon::predict::prefetch {

/// By which descriptors a thread reads its files: forecasts name files, the kernel wants descriptors.
///
/// The descriptors are the application's own. A duplicate would keep a closed file open (its locks, its blocks), and
/// closing it would end the process' record locks on the file. That one may be closed and stand for another file at any
/// moment costs nothing but a look at the file before each use.
class open_files {
  public:
    struct place {
        uint32_t file = 0;  ///< of calls::known_files; 0: none
        int descriptor = -1;
        bool reads_ahead = false;  ///< the page cache is between it and a device
        uint64_t device = 0;
        uint64_t inode = 0;
    };

    /// The thread read `file` by this descriptor.
    void note(uint32_t file, int descriptor);
    /// Null: not known to be open.
    [[nodiscard]] const place* find(uint32_t file);
    void forget(uint32_t file) { places_[file % most] = {}; }

    /// Whether a place's descriptor still stands for its file, which then is `bytes` long. For any thread, ours too.
    static bool is_same(const place& known, int64_t& bytes);

  private:
    static constexpr uint32_t most = 128;
    std::array<place, most> places_;
};

}  // namespace halcyon::predict::prefetch
