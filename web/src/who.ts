import type { Document } from "./data";

/** What the numbers of processes are: ranks of MPI, or the processes' places in the run. */
export interface Who {
    one: string;
    many: string;
}

export function whoOf({ run, timeline }: Document): Who {
    const mpi = run.ranks !== null || (timeline?.processes.some(({ rank }) => rank !== null) ?? false);
    return mpi ? { one: "rank", many: "ranks" } : { one: "process", many: "processes" };
}

/** `Rank`, `Processes`: a word at the begin of a line. */
export function capital(word: string): string {
    return word.charAt(0).toUpperCase() + word.slice(1);
}
