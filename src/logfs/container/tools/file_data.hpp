#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "logfs/container/reading/reader.hpp"

namespace halcyon::logfs {

/// Changes with everything that is published.
uint64_t published(const reader& of);

/// Hands over what a file holds, in order and in pieces; not its holes.
class file_data {
  public:
    using taking = std::function<result<void>(int64_t offset, std::span<const std::byte> bytes)>;
    /// Is given how many bytes of the file are done. False: stop.
    using telling = std::function<bool(int64_t done)>;

    explicit file_data(reader& from) : from_(from) {}

    /// All up to `size`, or less: where the file was cut meanwhile, the reader has taken that. Failures as those of
    /// reader and of `take`; unavailable (ECANCELED): `tell`, which may be empty, stopped it.
    result<void> hand_over(int64_t size, const taking& take, const telling& tell);
    /// What reader::conflicts() told of it.
    [[nodiscard]] int64_t conflict_bytes() const { return conflict_bytes_; }

  private:
    result<void> stretch(int64_t begin, int64_t end, const taking& take, const telling& tell);
    [[nodiscard]] result<void> told(const telling& tell, int64_t done) const;

    reader& from_;
    std::vector<std::byte> buffer_;
    int64_t conflict_bytes_ = 0;
};

}  // namespace halcyon::logfs
