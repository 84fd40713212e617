/** Many ranks in few marks: pure helpers of the pictures of phases. */

import type { PhaseSketch } from "../data";

/** At most `most` values of a sorted list, evenly spread over it, the smallest and the largest among them. */
export function thinned(sorted: readonly number[], most: number): number[] {
    if (sorted.length <= most) return [...sorted];
    return Array.from({ length: most }, (_, i) => sorted[Math.round((i * (sorted.length - 1)) / (most - 1))]!);
}

export function ascending(values: readonly number[]): number[] {
    return [...values].sort((a, b) => a - b);
}

/** Points (value, share of values up to it) of the cumulative distribution. */
export function cumulative(values: readonly number[], most: number): [number, number][] {
    const sorted = ascending(values);
    const step = Math.max(1, Math.ceil(sorted.length / most));
    const points: [number, number][] = [];
    for (let i = 0; i < sorted.length; i += step) points.push([sorted[i]!, (i + 1) / sorted.length]);
    const last = sorted[sorted.length - 1];
    if (last !== undefined && points[points.length - 1]![1] < 1) points.push([last, 1]);
    return points;
}

/** Ranks of a phase that stay in the page, whatever their number (phase_sketch.py). */
const SLOWEST = 16;

/** The distribution of all ranks of a phase, also where the page holds only some: an even choice, and the slowest. */
export function cumulativeOf({ seconds, rank_count }: PhaseSketch, most: number): [number, number][] {
    if (seconds.length >= rank_count) return cumulative(seconds, most);
    const few = seconds.length - SLOWEST;
    const others = rank_count - SLOWEST;
    return ascending(seconds).map((value, i) => {
        const place = i < few ? Math.floor((i * others) / few) : others + i - few;
        return [value, (place + 1) / rank_count];
    });
}

/** The colour at `share` (0 to 1) of a ramp of colours #rrggbb. */
export function rampColour(ramp: readonly string[], share: number): string {
    const at = Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0.5)) * (ramp.length - 1);
    const low = ramp[Math.floor(at)]!;
    const high = ramp[Math.ceil(at)]!;
    const part = (i: number) => {
        const from = parseInt(low.slice(1 + 2 * i, 3 + 2 * i), 16);
        const to = parseInt(high.slice(1 + 2 * i, 3 + 2 * i), 16);
        return Math.round(from + (to - from) * (at % 1))
            .toString(16)
            .padStart(2, "0");
    };
    return `#${part(0)}${part(1)}${part(2)}`;
}
