/** What there is to say about a call, or about a bin of many. */

import type { File } from "../data";
import { levelName } from "../theme";
import { count, plural, rate, seconds, size } from "../units";
import { functionOf, laneOf, type Calls } from "./calls";

/** Kinds of calls that move bytes. */
const DATA: ReadonlySet<string> = new Set(["read", "write", "copy"]);

/** How the bytes are called that other kinds name without moving any. */
const NAMED: Readonly<Record<string, string>> = {
    lock: "range",
    unlock: "range",
    map: "range",
    resize: "size asked for",
};

/** What a call moved; null of the kinds that move nothing, whatever size they name, and where nobody knows. */
export function movedBytes(calls: Calls, call: number): number | null {
    const bytes = calls.bytes[call]!;
    return DATA.has(functionOf(calls, call).kind) && bytes >= 0 ? bytes : null;
}

export interface Description {
    title: string;
    lines: [string, string][];
}

export function processName(calls: Calls, row: number): string {
    const process = calls.timeline.processes[row];
    if (!process) return "";
    const name = process.rank === null ? `process ${process.process}` : `rank ${process.rank}`;
    return process.host ? `${name} on ${process.host}` : name;
}

export function describeCall(calls: Calls, call: number, files: readonly File[]): Description {
    const { call: name, level, kind } = functionOf(calls, call);
    const duration = calls.duration[call]! / 1e9;
    const moved = movedBytes(calls, call);
    const named = NAMED[kind];
    const error = calls.error[call]!;
    const lines: [string, string][] = [
        ["where", processName(calls, Math.floor(laneOf(calls, call) / calls.timeline.levels.length))],
        ["level", levelName(level)],
        ["began", `${(calls.start[call]! / 1e9).toFixed(6)} s`],
        ["took", seconds(duration)],
    ];
    if (moved !== null)
        lines.push(["bytes", moved > 0 && duration > 0 ? `${size(moved)} (${rate(moved / duration)})` : size(moved)]);
    if (named && calls.bytes[call]! > 0) lines.push([named, size(calls.bytes[call]!)]);
    if (calls.offset[call]! >= 0) lines.push(["at offset", count(calls.offset[call]!)]);
    const file = calls.file[call]!;
    const path = pathOf(files, file) ?? calls.timeline.log_paths[file];
    if (path) lines.push(["file", path]);
    if (error) lines.push(["failed", `error ${error}`]);
    return { title: name, lines };
}

export function describeCell(calls: Calls, cell: number): Description {
    const cells = calls.cells!;
    const n = cells.calls[cell]!;
    const lines: [string, string][] = [
        ["calls", `${count(n)}, each shorter than ${seconds(calls.timeline.shorter_than_s)}`],
        ["most time in", calls.timeline.kinds[cells.kind[cell]!] ?? "?"],
        ["together", `${seconds(cells.busy[cell]! / 1e9)} of ${seconds(cells.binNs / 1e9)}`],
    ];
    if (cells.bytes[cell]!) lines.push(["bytes", size(cells.bytes[cell]!)]);
    return { title: plural(n, "call"), lines };
}

export function pathOf(files: readonly File[], file: number): string | null {
    // Files are in the order of their indices, unless only some are told.
    const at = files[file];
    return (at?.file === file ? at : files.find((one) => one.file === file))?.path ?? null;
}
