#pragma once

#include <fstream>
#include <string>
#include <utility>

namespace halcyon::logfs::tests {

/// Changes one bit of a file, and changes it back.
class flipped_bit {
  public:
    flipped_bit(std::string path, size_t byte, unsigned bit) : path_(std::move(path)), byte_(byte), bit_(bit) {
        flip();
    }
    ~flipped_bit() { flip(); }
    flipped_bit(const flipped_bit&) = delete;
    flipped_bit& operator=(const flipped_bit&) = delete;

  private:
    void flip() {
        std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
        file.seekg(static_cast<std::streamoff>(byte_));
        const int before = file.get();
        file.seekp(static_cast<std::streamoff>(byte_));
        file.put(static_cast<char>(before ^ (1 << bit_)));
    }

    std::string path_;
    size_t byte_;
    unsigned bit_;
};

}  // namespace halcyon::logfs::tests
