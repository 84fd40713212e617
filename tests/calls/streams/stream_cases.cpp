// Streams of C++, as programs use them. Usage: stream_cases <directory>; prints what came of it.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <ext/stdio_filebuf.h>
#include <ext/stdio_sync_filebuf.h>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <locale>
#include <sstream>
#include <string>

namespace {

std::string directory;

std::string path(const char* name) {
    return directory + "/" + name;
}

void tell(const char* name) {
    std::ifstream in(path(name), std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    const std::string text = all.str();
    std::cout << name << ": " << text.size() << ' ' << std::hash<std::string>()(text) << ' ' << text.substr(0, 60)
              << '\n';
}

void modes() {
    using std::ios;
    const ios::openmode all[] = {ios::in,
                                 ios::out,
                                 ios::out | ios::trunc,
                                 ios::app,
                                 ios::in | ios::out,
                                 ios::in | ios::out | ios::trunc,
                                 ios::in | ios::app,
                                 ios::in | ios::out | ios::ate,
                                 ios::in | ios::out | ios::binary};
    for (const auto mode : all) {
        std::ofstream(path("file")) << "one two three\n";
        std::fstream file(path("file"), mode);
        file << "four " << std::setprecision(12) << 0.1 << '\n' << std::flush;
        std::cout << file.good() << ' ' << file.tellp() << ' ' << file.tellg() << '\n';
        file.clear();
        file.seekg(0);
        std::string word;
        file >> word;
        std::cout << word << ' ' << file.tellg() << '\n';
        file.clear();
        file.seekp(4);
        file << "FIVE";
        file.seekg(-6, std::ios::end);
        file >> word;
        std::cout << word << ' ' << file.eof() << '\n';
        file.close();
        tell("file");
    }
    std::ifstream none(path("none"));
    std::cout << none.is_open() << '\n';
}

void large() {
    std::ofstream out(path("large"));
    for (int i = 0; i < 200000; ++i) out << i << (i % 10 == 0 ? '\n' : ' ');
    out.close();
    tell("large");
    std::ifstream in(path("large"));
    long sum = 0;
    for (int number = 0; in >> number;) sum += number;
    std::cout << sum << ' ' << in.eof() << '\n';
    in.clear();
    in.seekg(1000);
    for (std::string line; std::getline(in, line) && in.tellg() < 5000;) sum += static_cast<long>(line.size());
    std::cout << sum << ' ' << in.tellg() << ' ' << in.rdbuf()->in_avail() << '\n';
}

void wide() {
    std::wofstream out;
    out.imbue(std::locale("C.UTF-8"));
    out.open(path("wide"));
    for (int i = 0; i < 3000; ++i) out << i << L" äßé€\U0001F30A\n";
    out.close();
    tell("wide");
    std::wifstream in;
    in.imbue(std::locale("C.UTF-8"));
    in.open(path("wide"));
    std::wstring line;
    size_t characters = 0;
    while (std::getline(in, line)) characters += line.size();
    std::cout << characters << '\n';
}

void of_c() {
    FILE* stream = std::fopen(path("of C").c_str(), "w+");
    {
        __gnu_cxx::stdio_filebuf<char> buffer(stream, std::ios::in | std::ios::out);
        std::ostream out(&buffer);
        out << "through a buffer of C++\n" << std::flush;
    }
    const int fd = ::open(path("of C").c_str(), O_RDWR | O_APPEND);
    {
        __gnu_cxx::stdio_filebuf<char> buffer(fd, std::ios::out | std::ios::app);
        std::ostream(&buffer) << "and through a descriptor\n";
    }
    stream = std::fopen(path("of C").c_str(), "r+");
    {
        __gnu_cxx::stdio_sync_filebuf<char> buffer(stream);
        std::iostream both(&buffer);
        std::string line;
        std::getline(both, line);
        std::cout << line << '\n';
    }
    std::fclose(stream);
    tell("of C");
}

// Written by its destructor, at the end of the process.
std::ofstream& last() {
    static std::ofstream stream;
    return stream;
}

void redirected() {
    const int kept = dup(1);
    std::cout << std::flush;
    if (std::freopen(path("output").c_str(), "w", stdout) == nullptr) std::exit(3);
    for (int i = 0; i < 1000; ++i) std::cout << i << '\n';
    std::printf("by printf\n");
    std::cout << "by cout" << std::endl;
    std::fflush(stdout);
    dup2(kept, 1);
    tell("output");
}

}  // namespace

int main(int, char** words) {
    directory = words[1];
    modes();
    large();
    wide();
    of_c();
    redirected();
    last().open(path("last"));
    last() << "written by a destructor\n";
    return 0;
}
