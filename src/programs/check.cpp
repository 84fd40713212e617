// halcyon-check FILE [RANKS [RANKS_PER_NODE]]: `halcyon check FILE [--ranks RANKS] [--ranks-per-node RANKS_PER_NODE]`
// for installations without Python, in the same words.

#include <charconv>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string_view>

#include "offload/check/configuration_check.hpp"

namespace {

/// A number of 1 or more; 0 when `given` is none.
int count_of(std::string_view given) {
    int n = 0;
    const auto [end, problem] = std::from_chars(given.data(), given.data() + given.size(), n);
    return problem == std::errc{} && end == given.data() + given.size() && n > 0 ? n : 0;
}

}  // namespace

int main(int argc, char** argv) try {
    halcyon::offload::intended_run run;
    bool understood = argc >= 2 && argc <= 4;
    if (understood && argc > 2) understood = (run.ranks = count_of(argv[2])) > 0;
    if (understood && argc > 3) understood = (run.ranks_per_node = count_of(argv[3])) > 0;
    if (!understood) {
        std::cerr << "usage: halcyon-check FILE [RANKS [RANKS_PER_NODE]]\n";
        return 2;
    }
    const auto found = halcyon::offload::check_configuration(argv[1], run);
    if (!found) {
        std::cerr << "halcyon: " << found.why().message << "\n";
        return 1;
    }
    std::cout << found->summary << "\n" << std::flush;
    for (const std::string& warning : found->warnings) std::cerr << "halcyon: warning: " << warning << "\n";
    for (const std::string& refusal : found->refusals) std::cerr << "halcyon: " << refusal << "\n";
    return found->refusals.empty() ? 0 : 1;
} catch (const std::exception& e) {
    std::fprintf(stderr, "halcyon: %s\n", e.what());
    return 1;
}
