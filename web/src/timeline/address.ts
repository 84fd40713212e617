/** Between the part of the run in sight and the page's address: pure, so that both directions can be tried. */

import type { Route } from "../route";
import { within, type Span } from "./window";

export interface Sight {
    time: Span;
    rows: Span;
}

export interface Limits {
    duration: number;
    rows: number;
    /** Seconds. */
    least: number;
}

/**
 * What an address leads to, from `now`; null: nowhere else. A link to a stretch of time gets a margin around it, `row` is
 * that of its rank (-1: it names none). An address that was written here, with `rows`, leads to just what was in sight.
 */
export function sightOf(route: Route, row: number, now: Sight, { duration, rows, least }: Limits): Sight | null {
    const around = row < 0 ? now.rows : { from: Math.max(0, row - 2), to: Math.min(rows, row + 3) };
    const { from, to } = route;
    if (from === undefined || to === undefined || to < from) return row < 0 ? null : { time: now.time, rows: around };
    const exact = /^([\d.]+)-([\d.]+)$/.exec(route.rows ?? "");
    if (exact)
        return {
            time: within({ from, to }, duration, least),
            rows: within({ from: Number(exact[1]), to: Number(exact[2]) }, rows, 1),
        };
    const margin = Math.max((to - from) * 0.05, least);
    return { time: { from: Math.max(0, from - margin), to: Math.min(duration, to + margin) }, rows: around };
}

/** The other way round; nothing of the whole run. */
export function routeOf({ time, rows }: Sight, limits: Limits): Pick<Route, "from" | "to" | "rows"> {
    if (time.from <= 0 && time.to >= limits.duration && rows.from <= 0 && rows.to >= limits.rows) return {};
    const short = (value: number) => Number(value.toPrecision(12));
    return { from: short(time.from), to: short(time.to), rows: `${short(rows.from)}-${short(rows.to)}` };
}
