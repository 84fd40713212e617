#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace halcyon::offload {

/// A small text file that can be replaced although its disk is full: room for two versions is taken beforehand.
///
/// The second version lies beside the first, hidden, as `.<name>.room`. A new text goes there, into room that the
/// file system has already given, and then the two change their names: readers see the old text or the new. Where the
/// file system cannot exchange names, or cannot reserve room, the file is replaced as any other; when that fails for
/// want of room, the text is written over the old one in place, which a reader may see half done.
class reserved_file {
  public:
    static constexpr size_t room_bytes = 32 << 10;

    reserved_file() = default;
    /// Takes the room where there is some.
    explicit reserved_file(std::string path);

    /// `text` ends in a newline; blanks may follow it in the file. A text longer than the room gets no reserved place.
    /// Failure (system): the old text is still there.
    [[nodiscard]] result<void> replace(std::string_view text);
    /// Gives the room of the second version back: no more texts are expected.
    void release();

  private:
    std::string path_, spare_;
};

}  // namespace halcyon::offload
