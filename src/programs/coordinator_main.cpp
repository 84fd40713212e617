// halcyon-coordinator: gives the applications of one file system their turns. See docs/coordinator.md.

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "base/closest_name.hpp"
#include "base/rapidjson.hpp"
#include "coordinate/daemon/daemon.hpp"
#include "coordinate/protocol/messages.hpp"
#include "programs/coordinator_options.hpp"

using namespace halcyon;
using namespace halcyon::coordinate;

namespace {

int fail(const failure& why) {
    std::fprintf(stderr, "halcyon-coordinator: %s\n", why.message.c_str());
    if (why.kind == error_kind::usage) std::fprintf(stderr, "try: halcyon-coordinator --help\n");
    return why.kind == error_kind::usage ? 2 : 1;
}

int check(const std::string& file) {
    const auto all = read_coordinators(file);
    if (!all) return fail(all.why());
    for (const coordinator_entry& one : all->entries) {
        std::string paths;
        for (const std::string& path : one.paths) paths += (paths.empty() ? "" : ", ") + path;
        std::string addresses;
        for (const socket_address& address : one.addresses)
            addresses += (addresses.empty() ? "" : " or ") + address.text();
        std::cout << one.name << ": " << paths << " at " << addresses << ", policy " << policy::name_of(one.how.rule);
        if (one.how.rule == policy::rule::dynamic) std::cout << ", metric " << policy::name_of(one.how.metric);
        std::cout << "\n";
        for (const std::string& text : warnings_about(one.how)) std::cout << one.name << ": warning: " << text << "\n";
    }
    std::cout << file << ": OK\n";
    return 0;
}

void print(const std::vector<coordinator_entry>& entries) {
    rapidjson::StringBuffer text;
    rapidjson::Writer<rapidjson::StringBuffer> json(text);
    json.StartArray();
    for (const coordinator_entry& one : entries) {
        json.StartObject();
        json.Key("name");
        json.String(one.name.c_str());
        json.Key("paths");
        json.StartArray();
        for (const std::string& path : one.paths) json.String(path.c_str());
        json.EndArray();
        json.Key("addresses");
        json.StartArray();
        for (const socket_address& address : one.addresses) json.String(address.text().c_str());
        json.EndArray();
        json.Key("reached_at");
        json.String(one.reached_at().c_str());
        json.Key("metrics");
        json.String(one.reached.metrics ? one.reached.metrics->text().c_str() : "");
        json.Key("munge_socket");
        json.String(one.reached.munge_socket.c_str());
        json.Key("user");
        if (one.reached.user)
            json.Uint(*one.reached.user);
        else
            json.Null();
        json.EndObject();
    }
    json.EndArray();
    std::cout << text.GetString() << "\n";
}

int show(const std::string& file) {
    const auto all = read_coordinators(file);
    if (!all) return fail(all.why());
    print(all->entries);
    return 0;
}

int show_one(const std::string& file, const std::string& name) {
    const auto all = read_coordinators(file);
    if (!all) return fail(all.why());
    const auto one = choose(*all, name, file);
    if (!one) return fail(one.why());
    print({*one});
    return 0;
}

/// False: the process that this one shall end with has ended already, or did not start this one.
bool end_with_starter(const std::string& pid) {
    if (pid.empty()) return true;
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    return std::to_string(::getppid()) == pid;
}

int run(const coordinator_options& options) {
    ::prctl(PR_SET_NAME, "halcyon-coord");
    if (!end_with_starter(options.ends_with)) {
        const std::string message = "--end-with " + printable(options.ends_with) +
                                    ": expected the process that starts this one, and it has to live; that is " +
                                    std::to_string(::getppid());
        return fail(failure{error_kind::usage, message, 0});
    }
    auto made = daemon::start([options] { return configured(options); }, STDERR_FILENO);
    if (!made) return fail(made.why());
    const auto done = (*made)->run();
    return done ? 0 : fail(done.why());
}

}  // namespace

int main(int argc, char** argv) try {
    const auto options = parse_options({argv + 1, static_cast<size_t>(argc - 1)});
    if (!options) return fail(options.why());
    switch (options->what) {
        case coordinator_options::task::help:
            std::cout << coordinator_usage;
            return 0;
        case coordinator_options::task::version:
            std::cout << "halcyon-coordinator " HALCYON_VERSION_TEXT ", protocol " << protocol_version << "\n";
            return 0;
        case coordinator_options::task::check:
            return check(options->file);
        case coordinator_options::task::show:
            return show(options->file);
        case coordinator_options::task::show_one:
            return show_one(options->file, options->name);
        case coordinator_options::task::run:
            return run(*options);
    }
} catch (const std::bad_alloc&) {
    // Whoever starts daemons starts it again; clients tell it what they hold.
    std::fputs("halcyon-coordinator: out of memory\n", stderr);
    return 1;
} catch (const std::exception& e) {
    std::fprintf(stderr, "halcyon-coordinator: %s\n", e.what());
    return 1;
}
