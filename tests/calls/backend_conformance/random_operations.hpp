#pragma once

#include <linux/falloc.h>

#include <memory>
#include <random>
#include <sstream>

#include "calls/backend_conformance/fixture.hpp"
#include "calls/directory_backend/directory_backend.hpp"
#include "temporary_folder.hpp"

namespace halcyon::calls {

/// A tree of files of a backend under which random operations happen; each says in words what came of it. Two backends
/// that are told the same operations say the same words.
class random_operations {
  public:
    random_operations(file_backend& of, std::string folder, bool links)
        : backend_(of), folder_(std::move(folder)), links_(links), files_(handles) {}

    /// What the next operation is depends on the generator alone.
    std::string next(std::mt19937& random) {
        const auto pick = [&](unsigned count) { return static_cast<unsigned>(random() % count); };
        const unsigned which = pick(20);
        const std::string first = name(random);
        const std::string second = name(random);
        const size_t slot = pick(handles);
        const auto number = static_cast<int64_t>(random());
        const int64_t offset = number % 8 == 0 ? number % 5'000'000 : number % 3'000;
        const auto bytes = static_cast<size_t>(pick(16) == 0 ? pick(600'000) : pick(2'000));
        const unsigned choice = pick(1U << 30);
        opened_file* const file = files_[slot].get();
        std::ostringstream said;
        said << which << ' ' << first << ' ' << second << " #" << slot << " @" << offset << ' ' << bytes << ": ";
        if (which < 4) return said.str() + open(first, slot, choice);
        if (which == 4) return said.str() + std::to_string(backend_.unlink(path(first).c_str()));
        if (which < 7) {
            constexpr unsigned flags[] = {0, 0, 0, 1, 2};
            return said.str() +
                   std::to_string(backend_.rename(path(first).c_str(), path(second).c_str(), flags[choice % 5]));
        }
        if (which == 7)
            return said.str() + std::to_string(backend_.make_directory(path(first).c_str(), 0700 + choice % 64));
        if (which == 8) return said.str() + std::to_string(backend_.remove_directory(path(first).c_str()));
        if (which == 9) return said.str() + state_of(first, choice % 2 == 0);
        if (which == 10) return said.str() + list(first);
        if (which == 11) return said.str() + make_link(first, second, choice);
        if (which == 12) return said.str() + std::to_string(backend_.set_mode(path(first).c_str(), choice % 01000));
        if (file == nullptr) return said.str() + "no file";
        if (which == 13) {
            files_[slot].reset();
            return said.str() + "closed";
        }
        const bool directory = S_ISDIR(file->stat().st_mode);
        if (which == 14) return said.str() + (directory ? "" : describe(file->stat())) + file->path();
        if (directory) return said.str() + "directory";
        if (which == 15) return said.str() + std::to_string(hash(file->read(bytes, offset)));
        const std::string text(bytes, static_cast<char>('a' + choice % 26));
        if (which == 16 || which == 17) return said.str() + std::to_string(file->write(text, offset));
        if (which == 18) {
            int64_t at = -1;
            const ssize_t done = file->append(text, at);
            return said.str() + std::to_string(done) + " at " + std::to_string(done > 0 ? at : 0);
        }
        if (choice % 2 == 0) return said.str() + std::to_string(backend_.resize(file->handle(), offset));
        return said.str() + std::to_string(backend_.reserve(file->handle(), 0, offset, static_cast<int64_t>(bytes)));
    }

    /// All names, with states and contents.
    std::string tree(const std::string& from = "") {
        std::string all = from + ' ' + state_of(from, false) + '\n';
        struct stat found {};
        if (backend_.stat_path(path(from).c_str(), false, found) != 0) return all;
        if (S_ISREG(found.st_mode)) {
            opened_file file(backend_, path(from), O_RDONLY);
            all += std::to_string(hash(file.read(static_cast<size_t>(found.st_size), 0))) + '\n';
        }
        if (!S_ISDIR(found.st_mode)) return all;
        std::istringstream names(list(from));
        for (std::string name; names >> name;)
            if (name != "." && name != "..") all += tree(from + "/" + name);
        return all;
    }

  private:
    static constexpr size_t handles = 12;

    [[nodiscard]] std::string path(const std::string& name) const { return folder_ + name; }

    static size_t hash(const std::string& text) { return std::hash<std::string>()(text); }

    static std::string name(std::mt19937& random) {
        std::string path;
        const auto depth = static_cast<unsigned>(1 + random() % 3);
        for (unsigned i = 0; i < depth; ++i) path += std::string("/") + static_cast<char>('a' + random() % 4);
        return path;
    }

    // A directory's size and links are the file system's own affair.
    static std::string describe(const struct stat& state) {
        std::ostringstream text;
        text << std::oct << state.st_mode << std::dec;
        if (!S_ISDIR(state.st_mode)) text << ' ' << state.st_size << ' ' << state.st_nlink;
        return text.str() + ' ';
    }

    std::string state_of(const std::string& name, bool follow) {
        struct stat out {};
        const int result = backend_.stat_path(path(name).c_str(), follow, out);
        return result == 0 ? describe(out) : std::to_string(result);
    }

    std::string open(const std::string& name, size_t slot, unsigned choice) {
        int flags = O_RDWR;
        if (choice % 2 == 0) flags |= O_CREAT;
        if (choice / 2 % 8 == 0) flags |= O_EXCL;
        if (choice / 16 % 4 == 0) flags |= O_TRUNC;
        if (choice / 64 % 8 == 0) flags |= O_NOFOLLOW;
        if (choice / 512 % 4 == 0) flags = (flags & ~O_ACCMODE & ~O_TRUNC) | O_RDONLY;
        if (choice / 2048 % 8 == 0) flags |= O_DIRECTORY;
        if ((flags & O_CREAT) == 0) flags &= ~O_EXCL;  // is not defined
        auto file = std::make_unique<opened_file>(backend_, path(name), flags, 0600 + choice % 64);
        const int result = file->result();
        // What is not open for both is closed again: who may read or write is not asked of the backend.
        if (result == 0) files_[slot] = (flags & O_ACCMODE) == O_RDWR ? std::move(file) : nullptr;
        return std::to_string(flags) + " " + std::to_string(result);
    }

    std::string list(const std::string& name) {
        opened_file directory(backend_, path(name), O_RDONLY | O_DIRECTORY);
        if (directory.result() != 0) return std::to_string(directory.result());
        std::vector<std::string> names;
        for (const auto& [text, inode] : directory.entries()) names.push_back(text);
        std::sort(names.begin(), names.end());
        std::string all;
        for (const auto& text : names) all += text + ' ';
        return all;
    }

    std::string make_link(const std::string& first, const std::string& second, unsigned choice) {
        if (!links_) return "no links";
        if (choice % 3 == 0) return std::to_string(backend_.link(path(first).c_str(), path(second).c_str()));
        char text[64] = {};
        if (choice % 3 == 1)
            return std::to_string(backend_.read_link(path(first).c_str(), text, sizeof text - 1)) + text;
        // Up one level at most.
        const std::string target = (choice / 3 % 3 == 0 ? ".." : "") + second;
        return std::to_string(
            backend_.make_symbolic_link((target[0] == '/' ? target.substr(1) : target).c_str(), path(first).c_str()));
    }

    file_backend& backend_;
    const std::string folder_;
    const bool links_;
    std::vector<std::unique_ptr<opened_file>> files_;
};

TEST_P(backend_conformance, random_operations_end_as_the_kernels) {
    constexpr int operations = 20'000;
    constexpr unsigned seeds[] = {1, 2};
    for (const unsigned seed : seeds) {
        const tests::temporary_folder folder;
        directory_backend kernel(folder.path().string());
        // One level of its own above the tree, which links lead to.
        const std::string above = path("") + "/seed" + std::to_string(seed);
        const std::string below = above + "/tree";
        for (file_backend* const of : {&backend(), static_cast<file_backend*>(&kernel)}) {
            for (const std::string& made : {path(""), above, below}) {
                const int result = of->make_directory(made.c_str(), 0755);
                ASSERT_TRUE(result == 0 || result == -EEXIST);
            }
        }
        random_operations here(backend(), below, GetParam().links);
        random_operations there(kernel, below, GetParam().links);
        std::mt19937 random(seed);
        for (int i = 0; i < operations; ++i) {
            std::mt19937 same = random;
            const std::string expected = there.next(same);
            ASSERT_EQ(here.next(random), expected) << "operation " << i << " of seed " << seed;
            ASSERT_EQ(random, same);
        }
        EXPECT_EQ(here.tree(), there.tree());
        EXPECT_GT(here.tree().size(), 100U) << "something is left";
    }
}

}  // namespace halcyon::calls
