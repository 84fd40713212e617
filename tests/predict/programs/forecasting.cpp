// Ten steps of a simulation, and the next two asked of halcyon.hpp: forecasting_cpp FOLDER.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <halcyon/halcyon.hpp>
#include <string>

int main(int, char** words) {
    const std::string folder = words[1];
    const std::array<char, 4096> data{};
    for (int step = 0; step < 10; ++step) {
        std::array<char, 16> name{};
        std::snprintf(name.data(), name.size(), "/out.%04d", step);
        const int fd = open((folder + name.data()).c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
        for (int i = 0; i < 3; ++i) {
            if (write(fd, data.data(), data.size()) != 4096) return 1;
        }
        close(fd);
    }
    constexpr std::array operations = {"open", "close", "read", "write", "copy", "sync"};
    const halcyon::forecast next = halcyon::next_accesses(10);
    for (const halcyon_expected_access& one : next.accesses) {
        std::printf("%s %s%s %lld %lld\n", operations.at(one.operation), one.path + folder.size() + 1,
                    one.new_file != 0 ? " new" : "", static_cast<long long>(one.offset),
                    static_cast<long long>(one.bytes));
    }
    // In a thousand years everything comes: as much as there is room for.
    std::printf("within %zu\n", halcyon::accesses_within(1e9, 7).accesses.size());
}
