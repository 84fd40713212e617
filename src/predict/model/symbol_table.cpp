#include "predict/model/symbol_table.hpp"

#include <bit>

namespace halcyon::predict {

symbol_table::symbol_table(const limits& cut_off, calls::memory_bound& memory)
    : limits_(cut_off), symbols_(memory), sites_(memory), origins_(memory), found_origins_(memory) {
    static_cast<void>(symbols_.push({}));
}

uint64_t symbol_table::hash_of(const call_site& site) {
    const uint64_t what = uint64_t{site.function} << 8 | static_cast<uint64_t>(site.what);
    return mixed((uint64_t{site.context} << 32 | site.name_class) ^ mixed(what + 1));
}

uint64_t symbol_table::hash_of(const origin& from) {
    return mixed(uint64_t{from.context} << 32 | from.function);
}

uint32_t symbol_table::find(const call_site& site) const {
    const uint32_t found = sites_.find(hash_of(site), [&](uint32_t i) { return symbols_[i].site == site; });
    return found == nothing ? static_cast<uint32_t>(overflow) : found;
}

uint32_t symbol_table::add(const call_site& site) {
    const uint32_t made = symbols_.size();
    symbol_state state;
    state.site = site;
    if (made == 0 || made >= nothing || !symbols_.push(state)) return overflow;
    if (sites_.insert(hash_of(site), made, [&](uint32_t i) { return hash_of(symbols_[i].site); })) return made;
    static_cast<void>(symbols_.pop());
    return overflow;
}

symbol_table::origin* symbol_table::origin_of(const call_site& site) {
    const origin wanted{site.context, site.function, 0, 0};
    const auto is_it = [&](uint32_t i) {
        return origins_[i].context == wanted.context && origins_[i].function == wanted.function;
    };
    uint32_t found = found_origins_.find(hash_of(wanted), is_it);
    if (found == nothing) {
        found = origins_.size();
        if (found >= nothing || !origins_.push(wanted)) return nullptr;
        if (!found_origins_.insert(hash_of(wanted), found, [&](uint32_t i) { return hash_of(origins_[i]); })) {
            static_cast<void>(origins_.pop());
            return nullptr;
        }
    }
    return &origins_[found];
}

uint32_t symbol_table::of(const call_site& site) {
    if (const uint32_t found = find(site); found != overflow) [[likely]]
        return symbols_[found].instead == 0 ? found : symbols_[found].instead;
    origin* const from = origin_of(site);
    if (from == nullptr) return overflow;
    if (from->any == 0 && from->classes < limits_.file_classes) {
        const uint32_t made = add(site);
        if (made == overflow) return overflow;
        ++from->classes;
        return made;
    }
    if (from->any == 0) {
        call_site any = site;
        any.name_class = any_class;
        from->any = add(any);
        if (from->any == 0) return overflow;
        replace_all(*from);
    }
    return from->any;
}

void symbol_table::replace_all(const origin& from) {
    for (uint32_t i = 1; i < symbols_.size(); ++i) {
        const call_site& other = symbols_[i].site;
        if (i != from.any && other.context == from.context && other.function == from.function)
            symbols_[i].instead = from.any;
    }
}

uint32_t symbol_table::restore(const call_site& site) {
    if (find(site) != overflow) return overflow;
    origin* const from = origin_of(site);
    const uint32_t made = from == nullptr ? static_cast<uint32_t>(overflow) : add(site);
    if (made == overflow) return overflow;
    if (site.name_class == any_class)
        from->any = made;
    else
        ++from->classes;
    if (from->any != 0) replace_all(*from);
    return made;
}

}  // namespace halcyon::predict
