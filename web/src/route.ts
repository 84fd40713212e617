/**
 * Where the reader is, as the page's address tells it after `#`: `#timeline?from=1.5&to=2&rows=0-8&filter=chk`.
 *
 * A link names what it leads to (`#timeline?file=3&rank=7`); the view that is entered then writes its own state.
 */

export const TABS = [
    "overview",
    "findings",
    "phases",
    "timeline",
    "files",
    "calls",
    "servers",
    "predictability",
    "runs",
] as const;
export type Tab = (typeof TABS)[number];

export interface Route {
    tab: Tab;
    file?: number;
    rank?: number;
    phase?: number;
    call?: number;
    from?: number;
    to?: number;
    finding?: string;
    /** What the view is filtered by: words of paths. */
    filter?: string;
    /** Of the timeline: the rows in sight, `0-8`, and the levels shown, `mpiio,posix`. */
    rows?: string;
    levels?: string;
    colour?: string;
    /** Of phases: of writes, of reads or of all calls. */
    kind?: string;
    server?: string;
    /** Of several runs: the parameters of the grid, and its axis of time. */
    row?: string;
    column?: string;
    times?: string;
}

const NUMBERS = ["file", "rank", "phase", "call", "from", "to"] as const;
const WORDS = ["finding", "filter", "rows", "levels", "colour", "kind", "server", "row", "column", "times"] as const;

export function parseRoute(hash: string): Route {
    const [name = "", query = ""] = hash.replace(/^#/, "").split("?");
    const route: Route = { tab: TABS.find((tab) => tab === name) ?? "overview" };
    const values = new URLSearchParams(query);
    for (const key of NUMBERS) {
        const value = values.get(key);
        if (value !== null && value !== "" && Number.isFinite(Number(value))) route[key] = Number(value);
    }
    for (const key of WORDS) {
        const value = values.get(key);
        if (value !== null) route[key] = value;
    }
    return route;
}

export function formatRoute(route: Route): string {
    const values = new URLSearchParams();
    for (const key of NUMBERS) if (route[key] !== undefined) values.set(key, String(route[key]));
    for (const key of WORDS) if (route[key] !== undefined) values.set(key, route[key]);
    const query = values.toString();
    return `#${route.tab}${query ? `?${query}` : ""}`;
}
