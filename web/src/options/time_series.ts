/** Charts over the run's time: calls in progress, load of servers. */

import { axis, legend, tooltip } from "../chart";
import type { Activity, Concurrency, Distribution, Server, Servers } from "../data";
import { CLASS_NAMES, classOf, levelColour, levelName, type Theme } from "../theme";
import { byteScale, number, percent, rate, seconds, timeScale } from "../units";

/** Drag within a chart, along its time; the wheel alone scrolls the page. */
const ZOOM = [{ type: "inside", filterMode: "none", zoomOnMouseWheel: "ctrl" }];

function timeAxis(theme: Theme, end: number, more: Record<string, unknown> = {}) {
    const scale = timeScale(end);
    return axis(theme, {
        min: 0,
        max: end,
        name: `time since the run's start (${scale.name})`,
        axisLabel: { formatter: scale.format },
        ...more,
    });
}

/** Values of bins as a line that keeps its height over each bin. */
function steps(values: readonly number[], bin: number): [number, number][] {
    const points = values.map((value, i): [number, number] => [i * bin, value]);
    const last = values[values.length - 1];
    if (last !== undefined) points.push([values.length * bin, last]);
    return points;
}

/** Calls in progress: of each level, or, of one level, of each kind. */
export function concurrencyChart(theme: Theme, { bin_s, series }: Concurrency, level: string | null) {
    const own = level === null ? series : series.filter((one) => one.level === level);
    const end = bin_s * Math.max(0, ...own.map(({ mean }) => mean.length));
    const lines = new Map<string, { mean: number[]; color: string }>();
    for (const one of own) {
        const name = level === null ? levelName(one.level) : CLASS_NAMES[classOf(one.kind)];
        const color = level === null ? levelColour(theme, one.level) : theme.classes[classOf(one.kind)];
        const line = lines.get(name) ?? { mean: one.mean.map(() => 0), color };
        one.mean.forEach((value, i) => (line.mean[i] = (line.mean[i] ?? 0) + value));
        lines.set(name, line);
    }
    return {
        grid: { left: 60, right: 20, top: 34, bottom: 46 },
        legend: legend(theme),
        xAxis: timeAxis(theme, end),
        yAxis: axis(theme, { name: "calls in progress", nameGap: 44, min: 0 }),
        tooltip: { ...tooltip(theme), trigger: "axis", valueFormatter: (value: number) => number(value) },
        dataZoom: ZOOM,
        series: [...lines].map(([name, { mean, color }]) => ({
            type: "line",
            step: "end",
            name,
            data: steps(mean, bin_s),
            showSymbol: false,
            lineStyle: { width: 1.5 },
            color,
        })),
    };
}

/** A round step that divides `whole` into about `parts`: 1, 2 or 5 times a power of ten. */
export function roundStep(whole: number, parts: number): number {
    const rough = whole / parts;
    const power = 10 ** Math.floor(Math.log10(rough));
    return ([1, 2, 5].find((digit) => digit * power >= rough) ?? 10) * power;
}

/** All servers and the whole run: how many bytes per second each was asked for, as a colour. */
export function serverMap(theme: Theme, { servers, bin_s }: Servers, width: number) {
    const bins = Math.max(0, ...servers.map(({ read }) => read.length));
    const group = Math.max(1, Math.ceil(bins / Math.max(60, Math.floor((width - 150) / 3))));
    const data: [number, number, number][] = [];
    servers.forEach((server, row) => {
        for (let at = 0; at < bins; at += group) {
            let bytes = 0;
            for (let i = at; i < Math.min(bins, at + group); i++)
                bytes += (server.read[i] ?? 0) + (server.written[i] ?? 0);
            if (bytes > 0) data.push([at / group, row, bytes / (group * bin_s)]);
        }
    });
    const largest = Math.max(0, ...data.map(([, , load]) => load));
    const scale = timeScale(bins * bin_s);
    const width_s = group * bin_s;
    const step = roundStep(bins * bin_s, 10);
    const columns = Array.from({ length: Math.ceil(bins / group) }, (_, i) =>
        scale.format(Math.floor((i * width_s) / step + 1e-9) * step),
    );
    const labelled = (i: number) =>
        i === 0 || Math.floor((i * width_s) / step + 1e-9) > Math.floor(((i - 1) * width_s) / step + 1e-9);
    return {
        grid: { left: 110, right: 20, top: 40, bottom: 46 },
        xAxis: axis(theme, {
            type: "category",
            data: columns,
            name: `time since the run's start (${scale.name})`,
            splitLine: { show: false },
            axisLabel: { interval: labelled },
        }),
        yAxis: axis(theme, {
            type: "category",
            data: servers.map(({ name }) => name),
            inverse: true,
            splitLine: { show: false },
        }),
        visualMap: {
            min: 0,
            max: largest || 1,
            orient: "horizontal",
            left: 0,
            top: 0,
            itemHeight: 160,
            itemWidth: 12,
            padding: 2,
            text: [rate(largest), "0"],
            textStyle: { color: theme.muted },
            inRange: { color: theme.load },
            calculable: false,
        },
        tooltip: {
            ...tooltip(theme),
            formatter: ({ value }: { value: [number, number, number] }) =>
                `${servers[value[1]]!.name}, ${seconds(value[0] * group * bin_s)}: ${rate(value[2])}`,
        },
        series: [{ type: "heatmap", data, progressive: 0 }],
    };
}

/** The cardiogram of one server: what it was asked to write above, what it was asked to read below. */
export function cardiogram(theme: Theme, server: Server, bin_s: number, end: number) {
    const rates = (values: readonly number[], sign: number) =>
        steps(
            values.map((bytes) => (sign * bytes) / bin_s),
            bin_s,
        );
    const largest = Math.max(0, ...server.read, ...server.written) / bin_s;
    const scale = byteScale(largest);
    const line = (name: string, data: [number, number][], color: string) => ({
        type: "line",
        step: "end",
        name,
        data,
        color,
        showSymbol: false,
        lineStyle: { width: 1.2 },
        areaStyle: { opacity: 0.25 },
    });
    return {
        grid: { left: 70, right: 20, top: 34, bottom: 46 },
        legend: legend(theme),
        xAxis: timeAxis(theme, end, { axisLine: { onZero: false } }),
        yAxis: axis(theme, {
            name: `read ↓   ${scale.name}/s   written ↑`,
            nameGap: 50,
            axisLabel: { formatter: (v: number) => scale.format(Math.abs(v)) },
        }),
        tooltip: { ...tooltip(theme), trigger: "axis", valueFormatter: (value: number) => rate(Math.abs(value)) },
        dataZoom: ZOOM,
        series: [
            line("written", rates(server.written, 1), theme.classes.write),
            line("read", rates(server.read, -1), theme.classes.read),
        ],
    };
}

/** Bytes per second that all processes moved together. */
export function activityChart(theme: Theme, { bin_s, series }: Activity) {
    const end = bin_s * Math.max(0, ...series.map(({ bytes }) => bytes.length));
    const scale = byteScale(Math.max(0, ...series.flatMap(({ bytes }) => bytes)) / bin_s);
    return {
        grid: { left: 60, right: 20, top: 34, bottom: 46 },
        legend: legend(theme),
        xAxis: timeAxis(theme, end),
        yAxis: axis(theme, { name: `${scale.name}/s`, nameGap: 44, min: 0, axisLabel: { formatter: scale.format } }),
        tooltip: { ...tooltip(theme), trigger: "axis", valueFormatter: (value: number) => rate(value) },
        dataZoom: ZOOM,
        series: series.map(({ kind, bytes }) => ({
            type: "line",
            step: "end",
            name: kind,
            data: steps(
                bytes.map((moved) => moved / bin_s),
                bin_s,
            ),
            showSymbol: false,
            lineStyle: { width: 1.5 },
            areaStyle: { opacity: 0.15 },
            color: theme.classes[classOf(kind)],
        })),
    };
}

/** The same colour again is drawn in the next of these; solid first. */
const DASHES = ["solid", [7, 4], [2, 3], [9, 3, 2, 3]] as const;
const LEGEND_ROW = 22;
/** Line and gaps of an entry of the legend, and a character of its words, in pixels. */
const ENTRY = { line: 30, gaps: 18, character: 7.5 };

/** How many rows the names take in a legend so wide. */
export function legendRows(names: readonly string[], width: number): number {
    let [rows, used] = [1, 0];
    for (const name of names) {
        const own = ENTRY.line + ENTRY.gaps + ENTRY.character * name.length;
        if (used > 0 && used + own > width) [rows, used] = [rows + 1, 0];
        used += own;
    }
    return rows;
}

/** Above the picture: the legend, however many rows it has. */
function durationTop(durations: readonly Distribution[], width: number): number {
    const names = durations.map(({ name }) => name);
    return 14 + LEGEND_ROW * legendRows(names, width);
}

export function durationHeight(durations: readonly Distribution[], width: number): number {
    return 270 + durationTop(durations, width);
}

/** Cumulative distributions of how long the calls of each function took. */
export function durationChart(theme: Theme, durations: readonly Distribution[], width: number) {
    const colours = [...Object.values(theme.classes).slice(0, 6), theme.muted];
    // No logarithm of nothing: what the clock did not see counts as a nanosecond.
    const points = ({ seconds: values, share }: Distribution) =>
        values.map((value, i) => [Math.max(value, 1e-9), share[i]!]);
    const largest = Math.max(1e-9, ...durations.flatMap(({ seconds: values }) => values));
    const smallest = Math.max(
        1e-9,
        Math.min(...durations.flatMap(({ seconds: values }) => values.filter((v) => v > 0))),
    );
    return {
        grid: { left: 60, right: 20, top: durationTop(durations, width), bottom: 46 },
        // An entry shows its line as it is drawn, dashes and all.
        legend: legend(theme, {
            type: "plain",
            icon: undefined,
            itemWidth: ENTRY.line,
            itemStyle: { opacity: 0 },
            width,
        }),
        xAxis: axis(theme, {
            type: "log",
            min: 10 ** Math.floor(Math.log10(Math.min(smallest, largest))),
            name: "duration of the call",
            axisLabel: { formatter: (value: number) => seconds(value).replace(/\.0+ /, " ") },
        }),
        yAxis: axis(theme, {
            min: 0,
            max: 1,
            name: "share of the calls",
            nameGap: 44,
            axisLabel: { formatter: (v: number) => percent(v) },
        }),
        tooltip: {
            ...tooltip(theme),
            formatter: ({ seriesName, value }: { seriesName: string; value: [number, number] }) =>
                `${seriesName}: ${percent(value[1])} of the calls took at most ${seconds(value[0])}`,
        },
        series: durations.map((one, i) => ({
            type: "line",
            name: one.name,
            data: points(one),
            symbol: "none",
            triggerLineEvent: true,
            color: colours[i % colours.length],
            lineStyle: { width: 2, type: DASHES[Math.floor(i / colours.length) % DASHES.length]! },
        })),
    };
}
