// C++ streams, exceptions out of I/O, objects that live as long as their thread. Usage: appending <directory>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

struct at_end {
    std::string path;
    ~at_end() { std::ofstream(path, std::ios::app) << "end of thread\n"; }
};

int main(int, char** words) {
    const std::string directory = words[1];
    {
        std::ofstream out(directory + "/lines");
        for (int i = 0; i < 10000; ++i) out << i << '\n';
    }
    std::ifstream in(directory + "/lines");
    std::string line;
    long sum = 0;
    while (std::getline(in, line)) sum += std::stol(line);
    try {
        std::fstream bad;
        bad.exceptions(std::ios::failbit);
        bad.open(directory + "/none/none");
    } catch (const std::ios::failure&) {
        std::ofstream(directory + "/caught") << "caught " << sum << '\n';
    }
    for (int i = 0; i < 20; ++i) {
        std::thread([&] {
            thread_local at_end last{directory + "/ends"};
            std::ofstream(last.path, std::ios::app) << "thread\n";
        }).join();
    }
    std::fstream both(directory + "/both", std::ios::in | std::ios::out | std::ios::trunc | std::ios::binary);
    both << "0123456789";
    both.seekg(3);
    char digit = 0;
    both.get(digit);
    both.seekp(0, std::ios::end);
    both << digit;
}
