/** Calls in progress over time, for the slider below the timeline. */

import type { Concurrency, Timeline } from "../data";

/** Second and mean number of calls at the lowest level that the program called and the concurrency was counted of. */
export function inProgress(all: Concurrency | null, { levels, duration_s: duration }: Timeline): [number, number][] {
    const called = levels.filter((level) => level !== "log").reverse();
    const lowest = called.find((level) => all?.series.some((one) => one.level === level));
    const series = all?.series.filter(({ level }) => level === lowest) ?? [];
    if (!all || !series.length) return [[0, 0], [duration, 0]]; // prettier-ignore
    const sum = (i: number) => series.reduce((total, { mean }) => total + (mean[i] ?? 0), 0);
    return series[0]!.mean.map((_, i) => [(i + 0.5) * all.bin_s, sum(i)]);
}
