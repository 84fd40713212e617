#include "logfs/container/reading/index_damage.hpp"

#include "logfs/container/format/format.hpp"

namespace halcyon::logfs {

const char* index_damage::description() const {
    switch (what) {
        case part::none:
            return "nothing";
        case part::magic:
            return "no index dropping of Halcyon";
        case part::version:
            return "another format version";
        case part::header:
            return "its header does not fit its check sum";
        case part::state:
            return "its state does not fit its check sum";
        case part::commit:
            return "its commit does not fit its check sum";
        case part::block:
            return "a block of records does not fit its check sum";
        case part::missing_block:
            return "it ends before a block of records";
    }
    return "";
}

bool index_damage::join(const index_damage& next) {
    constexpr auto bytes = static_cast<int64_t>(block_bytes);
    const bool are_passed = what == part::block && next.what == part::block && is_passed && next.is_passed;
    if (!are_passed || next.offset / bytes != offset / bytes + int64_t{blocks}) return false;
    blocks += next.blocks;
    data_to = next.data_to;
    return true;
}

}  // namespace halcyon::logfs
