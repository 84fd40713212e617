#include "offload/store/hdf5/pattern_memory.hpp"

#include <bit>
#include <utility>

namespace halcyon::offload::hdf5 {
namespace {

/// The second file shows whether HDF5 makes two of them alike at all, before any is written without it.
bool is_sample(int64_t file) {
    return file % 256 == 0 || std::has_single_bit(static_cast<uint64_t>(file));
}

}  // namespace

bool pattern_memory::on() const {
    const std::lock_guard lock(mutex_);
    return on_;
}

std::shared_ptr<const file_pattern> pattern_memory::pattern_for(const std::string& description) {
    const std::lock_guard lock(mutex_);
    if (!on_ || !known_ || description.empty() || known_->description != description) return nullptr;
    return is_sample(++files_) ? nullptr : known_;
}

void pattern_memory::keep(file_pattern made) {
    const std::lock_guard lock(mutex_);
    if (!on_ || made.description.empty()) return;
    if (known_ && known_->description == made.description) {
        if (*known_ == made) return;
        on_ = false;
        untold_ = true;
        known_.reset();
        return;
    }
    known_ = std::make_shared<const file_pattern>(std::move(made));
    files_ = 1;
}

void pattern_memory::refute() {
    const std::lock_guard lock(mutex_);
    untold_ = untold_ || on_;
    on_ = false;
    known_.reset();
}

bool pattern_memory::take_refuted() {
    const std::lock_guard lock(mutex_);
    return std::exchange(untold_, false);
}

}  // namespace halcyon::offload::hdf5
