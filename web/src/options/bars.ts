/** Bars: time by level and kind, shares of a function's time, sizes of accesses, load of servers. */

import { axis, legend, levelAxis, tooltip } from "../chart";
import type { FunctionShares, Server, SizeBin, TimeSpent } from "../data";
import { CLASS_NAMES, CLASSES, classOf, type Theme } from "../theme";
import { byteScale, count, percent, seconds, size, timeScale } from "../units";

/** Time of all processes in calls, a bar per level, its parts by what the calls do. */
export function timeByLevel(theme: Theme, times: readonly TimeSpent[]) {
    const levels = ["hdf5", "mpiio", "stdio", "posix", "log"].filter((level) =>
        times.some((time) => time.level === level),
    );
    const sum = (level: string, kind: string) =>
        times
            .filter((time) => time.level === level && classOf(time.kind) === kind)
            .reduce((all, time) => all + time.seconds, 0);
    const totals = levels.map((level) => CLASSES.reduce((all, kind) => all + sum(level, kind), 0));
    const scale = timeScale(Math.max(...totals));
    return {
        grid: { left: 70, right: 24, top: 40, bottom: 46 },
        legend: legend(theme),
        xAxis: axis(theme, {
            name: `time, summed over all processes (${scale.name})`,
            axisLabel: { formatter: scale.format },
        }),
        yAxis: levelAxis(theme, levels),
        tooltip: { ...tooltip(theme), valueFormatter: (value: number) => seconds(value) },
        series: CLASSES.filter((kind) => levels.some((level) => sum(level, kind) > 0)).map((kind) => ({
            type: "bar",
            stack: "time",
            name: CLASS_NAMES[kind],
            data: levels.map((level) => sum(level, kind)),
            color: theme.classes[kind],
            barMaxWidth: 30,
        })),
    };
}

const SHARES = [
    ["communicate and wait", "communicate_s"],
    ["lock", "lock_s"],
    ["read", "read_s"],
    ["write", "write_s"],
    ["unlock", "unlock_s"],
    ["other", "other_s"],
] as const;

/** Where the time of each function went, as shares: after figure 4.8 of Wright 2014. */
export function functionShares(theme: Theme, functions: readonly FunctionShares[]) {
    const colours = [
        theme.communicate,
        theme.classes.lock,
        theme.classes.read,
        theme.classes.write,
        theme.classes.sync,
        theme.classes.metadata,
    ];
    return {
        grid: { left: 8, right: 24, top: 40, bottom: 46, containLabel: true },
        legend: legend(theme),
        xAxis: axis(theme, {
            min: 0,
            max: 1,
            name: "share of the function's time",
            axisLabel: { formatter: (v: number) => percent(v) },
        }),
        yAxis: axis(theme, {
            type: "category",
            inverse: true,
            data: functions.map((f) => f.function),
            axisLabel: { fontSize: 12 },
        }),
        tooltip: {
            ...tooltip(theme),
            formatter: ({ seriesIndex, dataIndex }: { seriesIndex: number; dataIndex: number }) => {
                const [name, key] = SHARES[seriesIndex]!;
                const f = functions[dataIndex]!;
                return `${f.function}: ${name} ${seconds(f[key])}, ${percent(f[key] / f.seconds)} of ${seconds(f.seconds)}`;
            },
        },
        series: SHARES.map(([name, key], index) => ({
            type: "bar",
            stack: "share",
            name,
            color: colours[index],
            barMaxWidth: 26,
            data: functions.map((f) => (f.seconds > 0 ? Math.max(0, f[key]) / f.seconds : 0)),
        })),
    };
}

/** How many reads and writes ask for how much. */
export function sizeHistogram(theme: Theme, sizes: readonly SizeBin[], level: string) {
    const own = sizes.filter((bin) => bin.level === level && bin.calls > 0);
    const lowest = Math.min(...own.map(({ lower }) => lower));
    const highest = Math.max(...own.map(({ lower }) => lower));
    // All bins between the smallest and the largest: a gap is to be seen as one.
    const lowers: number[] = [];
    // Of sources with bins of their own (Darshan), there are these alone.
    const doubling = own.every(({ lower, upper }) => upper === 2 * lower);
    for (let lower = lowest; doubling && lower <= highest; lower = lower ? lower * 2 : 1) lowers.push(lower);
    for (const { lower } of own) if (!lowers.includes(lower)) lowers.push(lower);
    lowers.sort((a, b) => a - b);
    const calls = (kind: string, lower: number) =>
        own.filter((bin) => bin.kind === kind && bin.lower === lower).reduce((all, bin) => all + bin.calls, 0);
    return {
        grid: { left: 66, right: 24, top: 34, bottom: 50 },
        legend: legend(theme),
        xAxis: axis(theme, {
            type: "category",
            data: lowers.map(binaryLabel),
            name: "size of the access: from this to the next",
            splitLine: { show: false },
            nameGap: 30,
        }),
        yAxis: axis(theme, { name: "calls", nameGap: 50, axisLabel: { formatter: (v: number) => count(v) } }),
        tooltip: {
            ...tooltip(theme),
            trigger: "axis",
            axisPointer: { type: "shadow" },
            valueFormatter: (v: number) => `${count(v)} calls`,
        },
        series: (["read", "write"] as const)
            .filter((kind) => own.some((bin) => bin.kind === kind))
            .map((kind) => ({
                type: "bar",
                name: kind,
                data: lowers.map((lower) => calls(kind, lower)),
                color: theme.classes[kind],
                barMaxWidth: 28,
            })),
    };
}

function binaryLabel(bytes: number): string {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let at = 0;
    while (bytes >= 1024 && at < units.length - 1) {
        bytes /= 1024;
        at++;
    }
    return `${Number(bytes.toPrecision(3))} ${units[at]}`;
}

/** Bytes per server, the busiest first. */
export function serverLoad(theme: Theme, servers: readonly Server[]) {
    const total = (server: Server) => server.bytes_read + server.bytes_written;
    const order = [...servers].sort((a, b) => total(b) - total(a));
    const mean = order.reduce((sum, server) => sum + total(server), 0) / Math.max(1, order.length);
    const scale = byteScale(Math.max(...order.map(total)));
    return {
        grid: { left: 110, right: 24, top: 34, bottom: 46 },
        legend: legend(theme),
        xAxis: axis(theme, {
            name: `bytes asked for (${scale.name}); even load would be ${size(mean)} each`,
            axisLabel: { formatter: scale.format },
        }),
        yAxis: axis(theme, {
            type: "category",
            inverse: true,
            data: order.map(({ name }) => name),
            axisLabel: { fontSize: 12 },
        }),
        tooltip: {
            ...tooltip(theme),
            trigger: "axis",
            axisPointer: { type: "shadow" },
            valueFormatter: (v: number) => size(v),
        },
        series: [
            {
                type: "bar",
                stack: "load",
                name: "written",
                color: theme.classes.write,
                barMaxWidth: 24,
                data: order.map((s) => s.bytes_written),
            },
            {
                type: "bar",
                stack: "load",
                name: "read",
                color: theme.classes.read,
                barMaxWidth: 24,
                data: order.map((s) => s.bytes_read),
            },
        ],
    };
}
