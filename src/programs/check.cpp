// halcyon-check FILE [RANKS]: `halcyon check FILE [--ranks RANKS]` for installations without Python, in the same words.

#include <charconv>
#include <iostream>
#include <string_view>

#include "offload/model/describe.hpp"

int main(int argc, char** argv) {
    int ranks = 0;
    bool understood = argc == 2 || argc == 3;
    if (argc == 3) {
        const std::string_view given = argv[2];
        const auto [end, problem] = std::from_chars(given.data(), given.data() + given.size(), ranks);
        understood = problem == std::errc{} && end == given.data() + given.size() && ranks > 0;
    }
    if (!understood) {
        std::cerr << "usage: halcyon-check FILE [RANKS]\n";
        return 2;
    }
    const auto line = halcyon::offload::describe_configuration(argv[1], ranks);
    if (!line) {
        std::cerr << "halcyon: " << line.why().message << "\n";
        return 1;
    }
    std::cout << *line << "\n";
    return 0;
}
