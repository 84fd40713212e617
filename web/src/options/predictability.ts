/** Charts of how well calls can be forecast: figures 7.2 to 7.7 of M. Dorier's thesis (2014). */

import { axis, legend, tooltip } from "../chart";
import type { Arrivals, Curve, Figures } from "../predictability";
import type { Theme } from "../theme";
import { count, percent, seconds } from "../units";

/** What a logarithmic axis shows instead of 0, in seconds. */
const LEAST = 1e-9;

/** Drag within a chart, along its calls; the wheel alone scrolls the page. */
const ZOOM = [{ type: "inside", filterMode: "none", zoomOnMouseWheel: "ctrl" }];

interface Look {
    name: string;
    /** Ends above this, if not where the values end. */
    max?: number;
    format: (value: number) => string;
}

export const SHARE: Look = { name: "share", max: 1, format: percent };
export const SYMBOLS: Look = { name: "symbols", format: count };
export const ERROR: Look = { name: "error", format: (value) => String(Number(value.toPrecision(3))) };

/** A line where the second iteration begins: what is left of it was learnt from. */
function secondIteration(theme: Theme, { learnt }: Figures) {
    if (learnt === null) return {};
    return {
        markLine: {
            silent: true,
            symbol: "none",
            lineStyle: { color: theme.muted, type: "dashed", width: 1 },
            label: { show: false },
            data: [{ xAxis: learnt + 1 }],
        },
    };
}

function callAxis(theme: Theme, min: number, max: number) {
    return axis(theme, { min, max, name: "call", axisLabel: { formatter: (value: number) => count(value) } });
}

/** Curves over the calls, the first one Halcyon's and on top. */
export function overCalls(theme: Theme, figures: Figures, curves: readonly Curve[], look: Look) {
    return {
        grid: { left: 62, right: 20, top: curves.length > 1 ? 34 : 18, bottom: 46 },
        ...(curves.length > 1 ? { legend: legend(theme) } : {}),
        xAxis: callAxis(theme, 1, Math.max(2, figures.calls)),
        yAxis: axis(theme, {
            name: look.name,
            nameGap: 48,
            min: 0,
            ...(look.max === undefined ? {} : { max: look.max }),
            axisLabel: { formatter: look.format },
        }),
        tooltip: {
            ...tooltip(theme),
            trigger: "axis",
            valueFormatter: (value: number | undefined) => (value === undefined ? "–" : look.format(value)),
        },
        dataZoom: ZOOM,
        series: curves.map(({ name, x, y }, i) => ({
            type: "line",
            name,
            data: x.map((at, place) => [at, y[place]!]),
            symbol: "none",
            z: 10 - i,
            lineStyle: { width: i ? 0.8 : 1.5 },
            color: i ? theme.classes.write : theme.accent,
            ...(i ? {} : secondIteration(theme, figures)),
        })),
    };
}

interface Dots {
    name: string;
    values: readonly number[];
    color: string;
    size: number;
}

/** Times of the last calls as dots, on a logarithmic axis. */
function dots(theme: Theme, { x }: Arrivals, name: string, series: readonly Dots[]) {
    return {
        grid: { left: 72, right: 20, top: 34, bottom: 46 },
        legend: legend(theme, { icon: "circle" }),
        xAxis: callAxis(theme, x[0] ?? 1, Math.max(x[x.length - 1] ?? 2, (x[0] ?? 1) + 1)),
        yAxis: axis(theme, {
            type: "log",
            name,
            nameGap: 56,
            axisLabel: { formatter: (value: number) => seconds(value).replace(/\.0+ /, " ") },
        }),
        tooltip: { ...tooltip(theme), trigger: "axis", valueFormatter: (value: number) => seconds(value) },
        dataZoom: ZOOM,
        series: series.map((one, i) => ({
            type: "line",
            name: one.name,
            data: x.map((at, place) => [at, Math.max(LEAST, one.values[place]!)]),
            showSymbol: true,
            showAllSymbol: true,
            symbol: "circle",
            symbolSize: one.size,
            z: i + 2,
            lineStyle: { width: 0 },
            color: one.color,
        })),
    };
}

export function arrivalTimes(theme: Theme, arrivals: Arrivals) {
    return dots(theme, arrivals, "since the call before", [
        { name: "observed", values: arrivals.observed, color: theme.classes.write, size: 5 },
        { name: "expected", values: arrivals.expected, color: theme.accent, size: 3 },
    ]);
}

export function arrivalDifferences(theme: Theme, arrivals: Arrivals) {
    const { observed, expected, last_value } = arrivals;
    const differences = (values: readonly number[]) => values.map((value, i) => Math.abs(value - observed[i]!));
    return dots(theme, arrivals, "difference", [
        { name: "immediate re-access", values: observed, color: theme.classes.other, size: 3 },
        { name: "last value", values: differences(last_value), color: theme.classes.write, size: 3 },
        { name: "Halcyon", values: differences(expected), color: theme.accent, size: 3 },
    ]);
}
