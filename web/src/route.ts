/** Where the reader is, as the page's address tells it after `#`: `#timeline?file=3&from=1.5&to=2&rank=7`. */

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
}

const NUMBERS = ["file", "rank", "phase", "call", "from", "to"] as const;

export function parseRoute(hash: string): Route {
    const [name = "", query = ""] = hash.replace(/^#/, "").split("?");
    const route: Route = { tab: TABS.find((tab) => tab === name) ?? "overview" };
    const values = new URLSearchParams(query);
    for (const key of NUMBERS) {
        const value = values.get(key);
        if (value !== null && value !== "" && Number.isFinite(Number(value))) route[key] = Number(value);
    }
    const finding = values.get("finding");
    if (finding) route.finding = finding;
    return route;
}

export function formatRoute(route: Route): string {
    const values = new URLSearchParams();
    for (const key of NUMBERS) if (route[key] !== undefined) values.set(key, String(route[key]));
    if (route.finding !== undefined) values.set("finding", route.finding);
    const query = values.toString();
    return `#${route.tab}${query ? `?${query}` : ""}`;
}
