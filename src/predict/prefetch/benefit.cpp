#include "predict/prefetch/benefit.hpp"

#include <algorithm>
#include <bit>

namespace halcyon::predict::prefetch {

void benefit::durations::add(double took) {
    count += 1;
    ns += took;
    longest = std::max(longest, took);
    shortest = shortest <= 0 ? took : std::min(shortest, took);
}

void benefit::durations::age() {
    count /= 2;
    ns /= 2;
    longest /= 2;
    shortest *= 1.1;
}

unsigned benefit::class_of(int64_t bytes) {
    return static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(bytes, 1))) - 1);
}

void benefit::read_asked(int64_t bytes, int64_t ns) {
    classes_[class_of(bytes)].asked.add(static_cast<double>(ns));
    ++reads_;
}

void benefit::read_control(int64_t bytes, int64_t ns) {
    classes_[class_of(bytes)].control.add(static_cast<double>(ns));
    control_bytes_ += static_cast<double>(bytes);
    control_ns_ += static_cast<double>(ns);
    ++reads_;
    ++controls_;
}

void benefit::unused(int64_t bytes) {
    unused_bytes_ += static_cast<double>(bytes);
    ++reads_;
}

bool benefit::had_to_wait(int64_t bytes, int64_t ns) const {
    constexpr double noise_ns = 20'000;
    const auto took = static_cast<double>(ns);
    const durations& asked = classes_[class_of(bytes)].asked;
    const durations& control = classes_[class_of(bytes)].control;
    if (control.count > 0 && took > control.mean() / 2) return true;
    return asked.shortest > 0 && took > 2 * asked.shortest + noise_ns;
}

int64_t benefit::shorter_by(int64_t bytes, int64_t ns) const {
    const durations& control = classes_[class_of(bytes)].control;
    return control.count <= 0 ? 0 : static_cast<int64_t>(control.mean()) - ns;
}

benefit::judgement benefit::judge() {
    double saved = 0;
    double alone = 0;  // what those reads would have taken
    for (size_class& of : classes_) {
        // Without a control of their size they saved nothing that is known.
        if (of.control.count > 0) {
            alone += of.asked.count * of.control.mean();
            saved += of.asked.count * of.control.mean() - of.asked.ns;
        }
        of.asked.age();
        of.control.age();
    }
    const double lost = control_bytes_ > 0 ? unused_bytes_ * control_ns_ / control_bytes_ : 0;
    judgement found;
    found.saved_ns = static_cast<int64_t>(saved - lost) - work_ns_;
    found.pays = found.saved_ns > 0;
    constexpr double noise = 0.25;  // of two means of few reads
    found.cost_ns = work_ns_ + static_cast<int64_t>(lost + std::max(-saved - noise * alone, 0.0));
    control_bytes_ /= 2;
    control_ns_ /= 2;
    unused_bytes_ /= 2;
    work_ns_ /= 2;
    reads_ = controls_ = 0;
    return found;
}

}  // namespace halcyon::predict::prefetch
