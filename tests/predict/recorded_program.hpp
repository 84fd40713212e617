#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "predict/model/observed_call.hpp"

namespace halcyon::tests {

/// Calls as a program would make them, on a clock of its own.
class recorded_program {
  public:
    struct recorded {
        predict::observed_call call;
        std::string path;
    };

    /// Time that passes without calls.
    void computes(int64_t ns) { now_ += ns; }
    void opens(uint32_t context, std::string_view path, bool truncates = false) {
        file_ = number_of(path);
        predict::observed_call& call = add(context, policy::operation::open);
        call.truncates = truncates;
    }
    void uses(std::string_view path) { file_ = number_of(path); }
    void closes(uint32_t context) { add(context, policy::operation::close); }
    void writes(uint32_t context, int64_t offset, int64_t bytes) {
        transfer(context, policy::operation::write, offset, bytes);
    }
    void reads(uint32_t context, int64_t offset, int64_t bytes) {
        transfer(context, policy::operation::read, offset, bytes);
    }

    [[nodiscard]] const std::vector<recorded>& calls() const { return calls_; }
    [[nodiscard]] uint32_t number_of(std::string_view path) {
        for (uint32_t i = 0; i < paths_.size(); ++i) {
            if (paths_[i] == path) return i + 1;
        }
        paths_.emplace_back(path);
        return static_cast<uint32_t>(paths_.size());
    }

    static constexpr int64_t call_ns = 20'000;
    static constexpr int64_t gap_ns = 5'000;

  private:
    predict::observed_call& add(uint32_t context, policy::operation what) {
        now_ += gap_ns;
        recorded one;
        one.call.context = context;
        one.call.what.what = what;
        one.call.what.file = file_;
        one.call.start_ns = now_;
        one.call.duration_ns = call_ns;
        one.path = file_ == 0 ? "" : paths_[file_ - 1];
        now_ += call_ns;
        calls_.push_back(one);
        return calls_.back().call;
    }
    void transfer(uint32_t context, policy::operation what, int64_t offset, int64_t bytes) {
        predict::observed_call& call = add(context, what);
        call.what.offset = offset;
        call.what.bytes = bytes;
        call.moved = bytes;
    }

    std::vector<recorded> calls_;
    std::vector<std::string> paths_;
    uint32_t file_ = 0;
    int64_t now_ = 1'000'000;
};

}  // namespace halcyon::tests
