#include "calls/recorded_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace halcyon::tests {
namespace {

std::vector<std::string> members_of(const std::string& line) {
    std::vector<std::string> members;
    std::istringstream text(line);
    for (std::string member; std::getline(text, member, '\t');) members.push_back(member);
    return members;
}

unsigned number(const std::string& text) {
    return static_cast<unsigned>(std::stoul(text));
}

recorded_call call_of(const std::vector<std::string>& m) {
    return {number(m.at(1)),
            number(m.at(2)),
            number(m.at(3)),
            m.at(4),
            m.at(5),
            m.at(6),
            number(m.at(7)),
            std::stoll(m.at(8)),
            std::stoll(m.at(9)),
            std::stoll(m.at(10)),
            std::stoll(m.at(11)),
            std::stoll(m.at(12)),
            number(m.at(13)),
            number(m.at(14)),
            m.at(15),
            number(m.at(16)) != 0,
            m.at(17)};
}

void add_line(recorded_process& process, const std::vector<std::string>& members) {
    const std::string& what = members.at(0);
    if (what == "call") process.calls.push_back(call_of(members));
    if (what == "file") {
        process.files[number(members.at(1))] = members.at(2);
        process.block_bytes[number(members.at(1))] = std::stoll(members.at(3));
    }
    if (what == "context") process.contexts[number(members.at(1))] = members.at(2);
    if (what == "fact") {
        process.facts.emplace(members.at(2), members.size() > 3 ? members[3] : "");
        process.files_of_facts[members.at(2)] = number(members.at(1));
    }
    if (what == "absence") process.absences.push_back(members.at(1));
    if (what == "end") process.endings.push_back(number(members.at(1)));
}

void check_parents(const recorded_process& process) {
    std::map<std::pair<unsigned, unsigned>, const recorded_call*> calls;
    for (const recorded_call& call : process.calls) calls[{call.thread, call.number}] = &call;
    for (const recorded_call& call : process.calls) {
        const auto parent = calls.find({call.thread, call.parent});
        const bool known = call.parent == 0 || parent != calls.end();
        const std::string expected = call.parent == 0 ? "?" : (known ? parent->second->function : "");
        if (known && call.parent_function != expected)
            throw std::runtime_error(call.function + " is said to be made by " + call.parent_function + " and was by " +
                                     expected);
    }
}

recorded_process read_process(const std::filesystem::path& path) {
    recorded_process process;
    std::ifstream text(path);
    for (std::string line; std::getline(text, line);) add_line(process, members_of(line));
    // Written down when they ended.
    std::sort(process.calls.begin(), process.calls.end(), [](const recorded_call& a, const recorded_call& b) {
        return a.thread != b.thread ? a.thread < b.thread : a.number < b.number;
    });
    check_parents(process);
    return process;
}

}  // namespace

std::string recorded_process::fact(const std::string& key) const {
    const auto found = facts.find(key);
    return found == facts.end() ? "" : found->second;
}

const recorded_call* recorded_process::parent_of(const recorded_call& call) const {
    for (const recorded_call& other : calls) {
        if (other.thread == call.thread && other.number == call.parent) return &other;
    }
    return nullptr;
}

std::vector<const recorded_call*> recorded_process::children_of(const recorded_call& call) const {
    std::vector<const recorded_call*> children;
    for (const recorded_call& other : calls) {
        if (other.thread == call.thread && other.parent == call.number) children.push_back(&other);
    }
    return children;
}

const recorded_call* recorded_process::first(const std::string& function) const {
    for (const recorded_call& call : calls) {
        if (call.function == function) return &call;
    }
    return nullptr;
}

const recorded_process* recorded_run::with_rank(int rank) const {
    for (const recorded_process& process : processes) {
        if (process.fact("mpi.rank") == std::to_string(rank)) return &process;
    }
    return nullptr;
}

recorded_run run_recorded(const std::string& launcher, const std::string& program_and_arguments,
                          const std::string& environment) {
    const temporary_folder records;
    const std::string command = launcher + " env " + environment + " HALCYON_TEXT_DIR=" + records.path().string() +
                                " LD_PRELOAD=" HALCYON_TEXT_IO " " + program_and_arguments + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
    recorded_run run{};
    std::array<char, 4096> buffer{};
    while (const size_t bytes = fread(buffer.data(), 1, buffer.size(), pipe)) run.output.append(buffer.data(), bytes);
    run.status = pclose(pipe);
    for (const auto& entry : std::filesystem::directory_iterator(records.path())) {
        run.processes.push_back(read_process(entry.path()));
    }
    return run;
}

}  // namespace halcyon::tests
