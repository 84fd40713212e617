// What a process knows, while several of its threads add to it.
#include "predict/layer/knowledge.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "predict/model/model_file.hpp"
#include "temporary_folder.hpp"

namespace halcyon::predict {
namespace {

struct shared_knowledge {
    knowledge& known = *knowledge::make({});
    shared_knowledge() = default;
    ~shared_knowledge() { knowledge::forget(&known); }
    shared_knowledge(const shared_knowledge&) = delete;
    shared_knowledge& operator=(const shared_knowledge&) = delete;

    /// Files of as many classes: names that differ in digits are of one.
    static std::string path_of(uint32_t i) {
        std::string letters;
        for (uint32_t rest = i; letters.size() < 5; rest /= 26) letters += static_cast<char>('a' + rest % 26);
        return "/data/" + letters;
    }
    void name_files(uint32_t begin, uint32_t end) {
        for (uint32_t i = begin; i < end; ++i) known.files().name({i + 1, path_of(i), 4096, 1});
    }
    void name_contexts(uint32_t count) {
        for (uint32_t i = 0; i < count; ++i) {
            const calls::context_frame frame{"program", i};
            known.name_context(i + 1, {&frame, 1});
        }
    }
};

struct kept {
    calls::memory_bound memory{SIZE_MAX};
    file_names names{memory};
    label_table labels{memory};
    std::optional<failure> wrong;

    explicit kept(const std::filesystem::path& path) {
        std::ifstream file(path, std::ios::binary);
        const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
        model_file opened;
        const std::span bytes(reinterpret_cast<const unsigned char*>(text.data()), text.size());
        wrong = model_file::open(bytes, "kept.model", opened);
        if (!wrong) wrong = opened.load(names, labels, {});
    }
};

TEST(knowledge, files_and_call_stacks_are_named_at_once) {
    const tests::temporary_folder folder;
    const std::string path = (folder.path() / "kept.model").string();
    for (int round = 0; round < 50; ++round) {
        constexpr uint32_t each = 300;
        shared_knowledge shared;
        std::atomic<int> ready{0};
        const auto together = [&](auto work) {
            return std::thread([&ready, work] {
                ++ready;
                while (ready < 2) continue;
                work();
            });
        };
        std::thread names = together([&] { shared.name_files(0, each); });
        std::thread stacks = together([&] { shared.name_contexts(each); });
        names.join();
        stacks.join();
        ASSERT_EQ(shared.known.save(path.c_str()), 0);
        const kept found(path);
        ASSERT_FALSE(found.wrong) << found.wrong->message;
        ASSERT_EQ(found.names.classes(), each) << "round " << round;
        for (uint32_t i = 0; i < each; ++i) {
            ASSERT_EQ(found.names.last_of(i + 1).path, shared_knowledge::path_of(i)) << "round " << round;
            std::array<char, 32> text{};
            snprintf(text.data(), text.size(), "program+0x%x", i);
            ASSERT_EQ(found.labels.of(label_table::subject::context, i + 1), text.data()) << "round " << round;
        }
    }
}

TEST(knowledge, what_is_saved_while_threads_go_on_is_whole) {
    const tests::temporary_folder folder;
    const std::string path = (folder.path() / "kept.model").string();
    for (int round = 0; round < 30; ++round) {
        constexpr uint32_t each = 2000;
        shared_knowledge shared;
        std::atomic<bool> begun{false};
        std::thread names([&] {
            begun = true;
            shared.name_files(0, each);
            shared.name_contexts(each);
        });
        while (!begun) continue;
        for (int i = 0; i < 5; ++i) {
            EXPECT_EQ(shared.known.save(path.c_str()), 0) << "round " << round;
            const kept found(path);
            EXPECT_FALSE(found.wrong) << found.wrong->message;
        }
        names.join();
        if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace halcyon::predict
