#include <random>

#include "configuration.hpp"

namespace halcyon::offload {
namespace {

/// Whatever the bytes are: a model all of whose variables can be asked for their shape, or a failure that says where.
void survives(const std::string& text) {
    const auto parsed = parse_model(text, "cloud.yaml", {});
    if (!parsed.ok()) {
        ASSERT_EQ(parsed.why().kind, error_kind::config) << parsed.why().message << "\n" << text;
        ASSERT_TRUE(parsed.why().message.starts_with("cloud.yaml:")) << parsed.why().message;
        ASSERT_EQ(parsed.why().message.find('\n'), std::string::npos) << parsed.why().message;
        return;
    }
    for (const variable& v : parsed->variables) {
        const block_owner owner{1, 4, 0};
        const auto shape = shape_of(*parsed, v, owner);
        if (shape.ok() && v.blocks_per_client > 0) {
            ASSERT_GE(shape->bytes, 0);
            const auto largest = largest_bytes(*parsed, v, owner);
            if (largest) {
                ASSERT_GE(*largest, shape->bytes) << v.name << "\n" << text;
            }
        }
    }
}

TEST(configuration_mutation, every_truncation_is_handled) {
    const std::string text = full_configuration();
    ASSERT_GT(text.size(), 2000u);
    std::mt19937 random(1);
    for (int i = 0; i < 150; ++i) survives(text.substr(0, random() % text.size()));
}

TEST(configuration_mutation, changed_bytes_are_handled) {
    const std::string text = full_configuration();
    const std::string alphabet = "{}[]:,-&*!|>'\"%@`#? \n\t0aZ~<=\\./\x01\x80\xff\xc3\xa9";
    std::mt19937 random(2);
    for (int i = 0; i < 300; ++i) {
        std::string changed = text;
        const int changes = 1 + static_cast<int>(random() % 4);
        for (int k = 0; k < changes; ++k) {
            const size_t at = random() % changed.size();
            const char byte = alphabet[random() % alphabet.size()];
            switch (random() % 3) {
                case 0:
                    changed[at] = byte;
                    break;
                case 1:
                    changed.insert(at, 1, byte);
                    break;
                default:
                    changed.erase(at, 1 + random() % 20);
            }
        }
        survives(changed);
    }
}

TEST(configuration_mutation, exchanged_lines_and_words_are_handled) {
    const std::string text = full_configuration();
    std::vector<std::string> words;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find_first_of(" \n,{}[]:", at), text.size());
        if (end > at) words.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    std::mt19937 random(3);
    for (int i = 0; i < 300; ++i) {
        std::string changed = text;
        const std::string& from = words[random() % words.size()];
        const std::string& to = words[random() % words.size()];
        const size_t at = changed.find(from, random() % changed.size());
        if (at == std::string::npos) continue;
        changed.replace(at, from.size(), to);
        survives(changed);
    }
}

}  // namespace
}  // namespace halcyon::offload
