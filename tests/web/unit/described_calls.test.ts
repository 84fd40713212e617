import { expect, test } from "vitest";
import type { Timeline } from "../../../web/src/data";
import type { Calls } from "../../../web/src/timeline/calls";
import { describeCall, movedBytes } from "../../../web/src/timeline/describe";
import { sumsOf } from "../../../web/src/views/parts";

const FUNCTIONS = [
    ["pwrite", "write"],
    ["MPI_File_set_view", "view"],
    ["MPI_File_set_size", "resize"],
    ["fcntl", "lock"],
    ["lseek", "seek"],
] as const;

/** A call of each function, each with 4096 bytes, whatever these are of. */
function oneOfEach(): Calls {
    const n = FUNCTIONS.length;
    const timeline = {
        processes: [{ process: 0, rank: 0, host: null }],
        levels: ["posix"],
        functions: FUNCTIONS.map(([call, kind]) => ({
            call,
            kind,
            level: "posix",
            setup: false,
        })),
        log_paths: { "-2": "/scratch/ckpt/hostdir.0/data" },
    } as unknown as Timeline;
    return {
        timeline,
        lanes: 1,
        lane: Uint32Array.of(0, n),
        start: new Float64Array(n),
        duration: new Float64Array(n).fill(1e9),
        function: Uint16Array.from(FUNCTIONS, (_, i) => i),
        file: new Int32Array(n).fill(-1),
        offset: new Float64Array(n).fill(-1),
        bytes: new Float64Array(n).fill(4096),
        thread: new Uint16Array(n),
        error: new Int32Array(n),
        cells: null,
    };
}

test("only calls that move data have bytes, alone and in sums", () => {
    const calls = oneOfEach();
    const all = FUNCTIONS.map((_, call) => call);
    expect(all.map((call) => movedBytes(calls, call))).toEqual([4096, null, null, null, null]);
    expect(sumsOf(calls, all).map(({ bytes }) => bytes)).toEqual([4096, 0, 0, 0, 0]);
});

test("what else a call names is told by what it is", () => {
    const calls = oneOfEach();
    const told = FUNCTIONS.map((_, call) => describeCall(calls, call, []).lines.filter(([, text]) => /B\b/.test(text)));
    expect(told).toEqual([
        [["bytes", "4.10 kB (4.10 kB/s)"]],
        [],
        [["size asked for", "4.10 kB"]],
        [["range", "4.10 kB"]],
        [],
    ]);
});

test("a call below a log names the log's own file", () => {
    const calls = oneOfEach();
    calls.file[0] = -2;
    const files = FUNCTIONS.map((_, call) => describeCall(calls, call, []).lines.find(([name]) => name === "file"));
    expect(files).toEqual([["file", "/scratch/ckpt/hostdir.0/data"], undefined, undefined, undefined, undefined]);
});
