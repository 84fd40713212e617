/** The calls of the page: columns by name, as they lie in memory. Times in nanoseconds since the run's start. */

import { decodeColumns, type Numbers } from "../columns";
import type { Timeline, TimelineFunction } from "../data";

export interface Cells {
    /** Where each lane's cells begin, and where the last one's end. */
    lane: Uint32Array;
    bin: Int32Array;
    calls: Uint32Array;
    busy: Float64Array;
    kind: Uint8Array;
    bytes: Float64Array;
    binNs: number;
}

export interface Calls {
    timeline: Timeline;
    lanes: number;
    /** Where each lane's calls begin, and where the last one's end. */
    lane: Uint32Array;
    start: Float64Array;
    duration: Float64Array;
    function: Uint16Array;
    /** −1: none */
    file: Int32Array;
    /** −1: none */
    offset: Float64Array;
    /** −1: not known */
    bytes: Float64Array;
    thread: Uint16Array;
    /** 0: succeeded */
    error: Int32Array;
    cells: Cells | null;
}

export async function readCalls(timeline: Timeline, base64: string): Promise<Calls> {
    return callsOf(timeline, await decodeColumns(base64, timeline.columns));
}

export function callsOf(timeline: Timeline, columns: Map<string, Numbers>): Calls {
    const column = <T extends Numbers>(name: string): T => {
        const found = columns.get(name);
        if (!found) throw new Error(`The page has no column ${name}; was it written by another version of Halcyon?`);
        return found as T;
    };
    return {
        timeline,
        lanes: timeline.processes.length * timeline.levels.length,
        lane: column("call_lane"),
        start: column("call_start"),
        duration: column("call_duration"),
        function: column("call_function"),
        file: column("call_file"),
        offset: column("call_offset"),
        bytes: column("call_bytes"),
        thread: column("call_thread"),
        error: column("call_error"),
        cells:
            timeline.bin_s === null
                ? null
                : {
                      lane: column("cell_lane"),
                      bin: column("cell_bin"),
                      calls: column("cell_calls"),
                      busy: column("cell_busy"),
                      kind: column("cell_kind"),
                      bytes: column("cell_bytes"),
                      binNs: timeline.bin_s * 1e9,
                  },
    };
}

export function functionOf(calls: Calls, call: number): TimelineFunction {
    return calls.timeline.functions[calls.function[call]!]!;
}

/** The lane of a call: the last one that begins at or before it. */
export function laneOf(calls: Calls, call: number): number {
    return upperBound(calls.lane, call, 0, calls.lanes + 1) - 1;
}

/** The first index in [from, to) whose value is larger than `value`; the array ascends. */
export function upperBound(array: ArrayLike<number>, value: number, from: number, to: number): number {
    while (from < to) {
        const middle = (from + to) >>> 1;
        if (array[middle]! <= value) from = middle + 1;
        else to = middle;
    }
    return from;
}

/**
 * The calls that `call` made itself or had made: those of its process and thread at lower levels that lie within its
 * time, by their start; at most `most` of them.
 */
export function callsWithin(calls: Calls, call: number, most = Infinity): number[] {
    const levels = calls.timeline.levels.length;
    const lane = laneOf(calls, call);
    const lastOfProcess = lane - (lane % levels) + levels - 1;
    const from = calls.start[call]!;
    const to = from + calls.duration[call]!;
    const found: number[] = [];
    for (let below = lane + 1; below <= lastOfProcess; below++) {
        const end = calls.lane[below + 1]!;
        // upperBound(from − 1 ns): the first that begins at `from` or later
        for (
            let i = upperBound(calls.start, from - 1, calls.lane[below]!, end);
            i < end && calls.start[i]! <= to;
            i++
        ) {
            if (calls.thread[i] === calls.thread[call] && calls.start[i]! + calls.duration[i]! <= to) found.push(i);
            if (found.length >= most) return found;
        }
    }
    return found.sort((a, b) => calls.start[a]! - calls.start[b]!);
}
