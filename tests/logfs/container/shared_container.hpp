#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "logfs/container/directory/node_folder.hpp"
#include "open_container.hpp"
#include "temporary_folder.hpp"

namespace halcyon::logfs::tests {

/// A container of so many random extents of two writers, and a folder of the node for its merged index.
class shared_container {
  public:
    static constexpr int64_t file_bytes = 200'000;
    static constexpr uint64_t least = 500;

    explicit shared_container(file_calls& calls = kernel_files()) : in(calls) {
        how = beside_writers();
        how.sharing = {node.path().native(), least};
    }

    void write(int64_t pid, int writes) {
        writer& to = in.add_writer(pid);
        for (int i = 0; i < writes; ++i) put(to);
    }
    void put(writer& to) {
        const bytes data = random_bytes(random, 1 + random() % 40);
        const auto offset = static_cast<int64_t>(random() % static_cast<uint64_t>(file_bytes));
        to.write(offset, data).value();
        file.write(offset, data);
    }

    std::unique_ptr<reader> open() {
        auto from = in.new_reader(how);
        from->reload().value();
        return from;
    }
    /// Somebody leaves an image, and has ended.
    void leave() {
        const auto from = open();
        ASSERT_FALSE(from->shared().is_used());
        ASSERT_GT(from->shared().shared_entries(), 0U);
        ASSERT_TRUE(std::filesystem::exists(image()));
    }
    /// A new reader reads what was written; whether it began with an image.
    bool reads_right() {
        const auto from = open();
        const bool is_used = from->shared().is_used();
        EXPECT_EQ(difference(all_of(*from), file.contents()), "none");
        return is_used;
    }

    [[nodiscard]] std::string image() {
        short_name name;
        EXPECT_EQ(node_folder::name_of(in.of().calls(), in.of().directory(), name), 0);
        return node.file(std::string(name.view()));
    }

    halcyon::tests::memory_folder node;
    open_container in;
    reader_options how;
    plain_file file;
    std::mt19937_64 random{1};
};

inline std::string contents_of(const std::string& path) {
    std::string text(std::filesystem::file_size(path), '\0');
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> from(std::fopen(path.c_str(), "rb"), &std::fclose);
    EXPECT_EQ(std::fread(text.data(), 1, text.size(), from.get()), text.size());
    return text;
}

/// A new file of this name, which only its owner may read.
inline void replace_contents(const std::string& path, const std::string& text) {
    std::filesystem::remove(path);
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> into(std::fopen(path.c_str(), "wb"), &std::fclose);
    EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), into.get()), text.size());
    std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

}  // namespace halcyon::logfs::tests
