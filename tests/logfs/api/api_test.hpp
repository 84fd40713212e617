#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "halcyon/logfs.h"
#include "temporary_folder.hpp"

namespace halcyon::logfs::tests {

inline constexpr unsigned for_writing = HALCYON_LOGFS_WRITE | HALCYON_LOGFS_CREATE;
inline constexpr unsigned for_both = HALCYON_LOGFS_READ | for_writing;

/// The code that a call returned is 0.
inline testing::AssertionResult went_well(int code) {
    if (code == HALCYON_OK) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "code " << code << ": " << halcyon_logfs_error_message();
}

/// The call failed just now, as is said.
inline testing::AssertionResult failed(int code, int wanted, int number, const std::string& message) {
    const std::string said = halcyon_logfs_error_message();
    if (code == wanted && halcyon_logfs_error_number() == number && said.find(message) != std::string::npos)
        return testing::AssertionSuccess();
    return testing::AssertionFailure() << "code " << code << ", errno " << halcyon_logfs_error_number() << ": " << said;
}

inline std::string text_of_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// A handle, closed at the end.
class opened {
  public:
    explicit opened(const std::string& path, unsigned mode = for_both, const halcyon_logfs_options* options = nullptr)
        : code_(halcyon_logfs_open(path.c_str(), mode, options, &handle_)) {
        EXPECT_TRUE(went_well(code_));
    }
    opened(const opened&) = delete;
    opened& operator=(const opened&) = delete;
    ~opened() {
        if (handle_ != nullptr) halcyon_logfs_close(&handle_);
    }

    operator halcyon_logfs_handle() const { return handle_; }
    void write(const std::string& text, int64_t offset) {
        EXPECT_TRUE(went_well(halcyon_logfs_pwrite(handle_, text.data(), text.size(), offset, nullptr)));
    }
    [[nodiscard]] std::string read(size_t bytes, int64_t offset) const {
        std::string text(bytes, '?');
        uint64_t done = 0;
        EXPECT_TRUE(went_well(halcyon_logfs_pread(handle_, text.data(), text.size(), offset, &done)));
        text.resize(done);
        return text;
    }
    [[nodiscard]] int64_t size() const {
        int64_t bytes = -1;
        EXPECT_TRUE(went_well(halcyon_logfs_size(handle_, &bytes)));
        return bytes;
    }
    void close() { EXPECT_TRUE(went_well(halcyon_logfs_close(&handle_))); }

  private:
    halcyon_logfs_handle handle_ = nullptr;
    int code_;
};

class api_test : public testing::Test {
  protected:
    /// A container with this text.
    void make(const std::string& path, const std::string& text) {
        opened file(path);
        file.write(text, 0);
        file.close();
    }
    /// As who opens it now sees it.
    static std::string text_of(const std::string& path) {
        const opened file(path, HALCYON_LOGFS_READ);
        return file.read(static_cast<size_t>(file.size()), 0);
    }
    static halcyon_logfs_options options() {
        halcyon_logfs_options usual{};
        usual.size_bytes = sizeof usual;
        return usual;
    }

    halcyon::tests::temporary_folder folder_;
    std::string path_ = folder_.file("file");
};

}  // namespace halcyon::logfs::tests
