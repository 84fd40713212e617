#include "offload/output/socket_file.hpp"

#include <unistd.h>

#include "base/contained.hpp"
#include "base/node_identity.hpp"
#include "base/rapidjson.hpp"
#include "base/replace_file.hpp"
#include "base/text_file.hpp"
#include "offload/output/run_mark.hpp"

namespace halcyon::offload {

socket_file::~socket_file() {
    if (path_.empty()) return;
    static_cast<void>(contained("", [this]() -> result<void> {
        const auto there = read_file(path_);
        if (there && *there == text_) ::unlink(path_.c_str());
        return {};
    }));
}

result<void> socket_file::publish(const std::string& directory, const std::string& writer, const std::string& run,
                                  const std::string& socket) {
    if (auto ours = settle_in_directory(directory, run); !ours) return ours;
    rapidjson::StringBuffer out;
    rapidjson::Writer<rapidjson::StringBuffer> w(out);
    w.StartObject();
    w.Key("format");
    w.Int(1);
    w.Key("socket");
    w.String(socket.c_str());
    w.Key("host");
    w.String(host_name().c_str());
    w.Key("process");
    w.Int(::getpid());
    w.EndObject();
    out.Put('\n');
    text_ = {out.GetString(), out.GetSize()};
    path_ = directory + "/socket-" + writer + ".json";
    return replace_file(path_, text_);
}

}  // namespace halcyon::offload
