/** Pictures of I/O phases: after figure 2.3 of Dorier 2014. */

import { axis, escapeHtml, legend, tooltip } from "../chart";
import type { PhaseSketch } from "../data";
import type { Theme } from "../theme";
import type { Who } from "../who";
import { number, percent, plural, rate, seconds, timeScale } from "../units";
import { ascending, cumulativeOf, rampColour, thinned } from "./quantiles";

const CELL = { width: 168, height: 128 };
const MOST_BARS = 64;

export function gridShape(width: number, phases: number): { columns: number; rows: number; height: number } {
    const columns = Math.max(1, Math.min(phases, Math.floor(width / CELL.width)));
    const rows = Math.ceil(phases / columns);
    return { columns, rows, height: rows * CELL.height };
}

/** Slowest and fastest aggregate throughput of the phases that have one. */
export function throughputRange(phases: readonly PhaseSketch[]): [number, number] | null {
    const known = phases.flatMap(({ throughput }) => (throughput === null ? [] : [throughput]));
    return known.length ? [Math.min(...known), Math.max(...known)] : null;
}

export function throughputColour(theme: Theme, phase: PhaseSketch, range: [number, number] | null): string {
    if (phase.throughput === null || !range) return theme.muted;
    return rampColour(theme.ramp, range[1] > range[0] ? (phase.throughput - range[0]) / (range[1] - range[0]) : 1);
}

/** One small picture per phase: its ranks by their time, as shares of the longest. */
export function phaseGrid(
    theme: Theme,
    width: number,
    phases: readonly PhaseSketch[],
    range: [number, number] | null,
    selected: number,
    who: Who,
) {
    const { columns } = gridShape(width, phases.length);
    const cell = width / columns;
    const place = (index: number) => ({
        left: (index % columns) * cell + 8,
        top: Math.floor(index / columns) * CELL.height + 24,
        width: cell - 24,
        height: CELL.height - 36,
    });
    const sorted = phases.map((phase) => thinned(ascending(phase.seconds), MOST_BARS));
    return {
        title: phases.map((phase, index) => ({
            text: `Phase ${phase.number}{time|  ${seconds(Math.max(...phase.seconds))}}`,
            left: place(index).left,
            top: place(index).top - 20,
            padding: 0,
            textStyle: {
                fontSize: 12,
                color: phase.number === selected ? theme.accent : theme.ink,
                fontWeight: phase.number === selected ? 700 : 400,
                rich: { time: { fontSize: 11, color: theme.muted } },
            },
        })),
        grid: phases.map((_, index) => ({
            ...place(index),
            show: true,
            borderColor: theme.grid,
            backgroundColor: theme.panel,
        })),
        xAxis: phases.map((phase, gridIndex) => ({
            type: "value",
            gridIndex,
            min: 0,
            max: Math.max(...phase.seconds) || 1,
            show: false,
        })),
        yAxis: sorted.map((values, gridIndex) => ({
            type: "category",
            gridIndex,
            data: values.map((_, i) => i),
            show: false,
        })),
        tooltip: {
            ...tooltip(theme),
            formatter: ({ seriesIndex, dataIndex }: { seriesIndex: number; dataIndex: number }) =>
                phaseTip(phases[seriesIndex]!, sorted[seriesIndex]!, dataIndex, who),
        },
        series: sorted.map((values, index) => ({
            type: "bar",
            xAxisIndex: index,
            yAxisIndex: index,
            data: values,
            barCategoryGap: "0%",
            itemStyle: { color: throughputColour(theme, phases[index]!, range) },
            cursor: "pointer",
        })),
    };
}

function phaseTip(phase: PhaseSketch, sorted: readonly number[], at: number, who: Who): string {
    const longest = sorted[sorted.length - 1]!;
    return [
        `<b>Phase ${phase.number}</b>: ${escapeHtml(rate(phase.throughput))} in all`,
        `${plural(phase.rank_count, who.one, who.many)}, the slowest took ${seconds(longest)}`,
        `here: ${seconds(sorted[at]!)}, ${percent(sorted[at]! / longest)} of it`,
    ].join("<br>");
}

/** How many of the ranks had finished after how long; the chosen phase stands out. */
export function phaseDistribution(theme: Theme, phases: readonly PhaseSketch[], selected: number, who: Who) {
    const largest = Math.max(...phases.flatMap(({ seconds }) => seconds));
    const scale = timeScale(largest);
    const ordered = [
        ...phases.filter(({ number }) => number !== selected),
        ...phases.filter(({ number }) => number === selected),
    ];
    return {
        grid: { left: 60, right: 20, top: 30, bottom: 46 },
        legend: legend(theme, { data: [`phase ${selected}`, "other phases"] }),
        xAxis: axis(theme, {
            min: 0,
            name: `I/O time of a ${who.one} in the phase (${scale.name})`,
            axisLabel: { formatter: scale.format },
        }),
        yAxis: axis(theme, {
            min: 0,
            max: 1,
            name: `share of the ${who.many}`,
            nameGap: 44,
            axisLabel: { formatter: (v: number) => percent(v) },
        }),
        tooltip: {
            ...tooltip(theme),
            formatter: ({ seriesName, value }: { seriesName: string; value: [number, number] }) =>
                `${seriesName}: ${percent(value[1])} of the ${who.many} took at most ${seconds(value[0])}`,
        },
        series: ordered.map((phase) => {
            const chosen = phase.number === selected;
            return {
                type: "line",
                step: "end",
                name: chosen ? `phase ${selected}` : "other phases",
                data: cumulativeOf(phase, 200),
                showSymbol: false,
                triggerLineEvent: true,
                lineStyle: { width: chosen ? 3 : 1, opacity: chosen ? 1 : 0.5 },
                color: chosen ? theme.accent : theme.muted,
            };
        }),
    };
}

/** The time of each rank in the chosen phase, rank by rank. */
export function phaseByRank(theme: Theme, phase: PhaseSketch, who: Who) {
    const order = phase.ranks
        .map((rank, i) => [rank, phase.seconds[i]!] as [number, number])
        .sort((a, b) => a[0] - b[0]);
    const middle = phase.median_s;
    const scale = timeScale(Math.max(...phase.seconds));
    return {
        grid: { left: 60, right: 20, top: 10, bottom: 46 },
        xAxis: axis(theme, {
            type: "category",
            name: who.one,
            data: order.map(([rank]) => rank),
            splitLine: { show: false },
        }),
        yAxis: axis(theme, { name: `I/O time (${scale.name})`, nameGap: 44, axisLabel: { formatter: scale.format } }),
        tooltip: {
            ...tooltip(theme),
            formatter: ({ name, value }: { name: string; value: number }) =>
                `${who.one} ${name}: ${seconds(value)}, ${number(value / middle)} times the median`,
        },
        series: [
            {
                type: "bar",
                data: order.map(([, time]) => ({
                    value: time,
                    itemStyle: { color: time > 1.5 * middle ? theme.classes.write : theme.classes.read },
                })),
                barCategoryGap: "10%",
                large: false,
            },
        ],
    };
}
