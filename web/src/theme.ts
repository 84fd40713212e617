/**
 * The colours of both themes, for style sheet and charts alike.
 *
 * Kinds of calls have the colours of Okabe and Ito (2008), which people who do not see all colours tell apart; in the
 * dark theme they are lighter.
 */

export type Scheme = "light" | "dark";

/** What a call does, as far as a colour can tell; many kinds share one. */
export const CLASSES = ["read", "write", "open", "metadata", "lock", "sync", "seek", "other"] as const;
export type CallClass = (typeof CLASSES)[number];

export interface Theme {
    page: string;
    panel: string;
    ink: string;
    muted: string;
    grid: string;
    accent: string;
    high: string;
    medium: string;
    low: string;
    classes: Record<CallClass, string>;
    levels: Record<string, string>;
    communicate: string;
    /** Slow to fast, for throughput and load: readable in grey, too. */
    ramp: string[];
    /** Little to much: little hardly stands out from the page. */
    load: string[];
}

export const THEMES: Record<Scheme, Theme> = {
    light: {
        page: "#ffffff",
        panel: "#f5f7f9",
        ink: "#1b1f24",
        muted: "#5b6570",
        grid: "#dfe4ea",
        accent: "#005f95",
        high: "#b3261e",
        medium: "#8a5a00",
        low: "#47606f",
        classes: {
            read: "#0072b2",
            write: "#d55e00",
            open: "#009e73",
            metadata: "#e69f00",
            lock: "#b8589b",
            sync: "#56b4e9",
            seek: "#8d97a1",
            other: "#b4bcc4",
        },
        levels: { hdf5: "#b8589b", mpiio: "#0072b2", stdio: "#e69f00", posix: "#009e73", log: "#56b4e9" },
        communicate: "#8d97a1",
        ramp: ["#440154", "#3b528b", "#21918c", "#5ec962", "#d8c51b"],
        load: ["#dbe9f2", "#7fb6d9", "#2f7fb5", "#0a4a7a", "#3b0f4f"],
    },
    dark: {
        page: "#14181d",
        panel: "#1c2229",
        ink: "#e4e8ec",
        muted: "#a3adb8",
        grid: "#323b45",
        accent: "#6cb8ef",
        high: "#ff8d80",
        medium: "#f0bd5a",
        low: "#9db4c2",
        classes: {
            read: "#3f9fdc",
            write: "#f07f2e",
            open: "#2cc295",
            metadata: "#f0b73a",
            lock: "#dd8bc4",
            sync: "#8fd0f5",
            seek: "#7b8794",
            other: "#56626f",
        },
        levels: { hdf5: "#dd8bc4", mpiio: "#3f9fdc", stdio: "#f0b73a", posix: "#2cc295", log: "#8fd0f5" },
        communicate: "#7b8794",
        ramp: ["#7a5ba8", "#5f7fc4", "#35a8a2", "#74d278", "#f2e14c"],
        load: ["#23323d", "#2f6f96", "#4fb0d0", "#a5e0c0", "#f7f3a0"],
    },
};

const CLASS_OF: Record<string, CallClass> = {
    read: "read",
    write: "write",
    copy: "write",
    open: "open",
    close: "open",
    stat: "metadata",
    namespace: "metadata",
    directory: "metadata",
    resize: "metadata",
    view: "metadata",
    metadata: "metadata", // of counters, which sum these up
    lock: "lock",
    unlock: "lock",
    sync: "sync",
    seek: "seek",
};

/** The class of a kind; kinds of a newer schema are `other`. */
export function classOf(kind: string): CallClass {
    return CLASS_OF[kind] ?? "other";
}

export const CLASS_NAMES: Record<CallClass, string> = {
    read: "read",
    write: "write, copy",
    open: "open, close",
    metadata: "metadata",
    lock: "lock, unlock",
    sync: "sync",
    seek: "seek",
    other: "map, wait, other",
};

export const LEVEL_NAMES: Record<string, string> = {
    hdf5: "HDF5",
    mpiio: "MPI-IO",
    stdio: "stdio",
    posix: "POSIX",
    log: "log",
};

export function levelName(level: string): string {
    return LEVEL_NAMES[level] ?? level;
}

export function levelColour(theme: Theme, level: string): string {
    return theme.levels[level] ?? theme.classes.other;
}

/** Sets the style sheet's variables. */
export function applyTheme(scheme: Scheme): void {
    const root = document.documentElement;
    const theme = THEMES[scheme];
    root.dataset.scheme = scheme;
    root.style.colorScheme = scheme;
    for (const [name, value] of Object.entries(theme)) {
        if (typeof value === "string") root.style.setProperty(`--${name}`, value);
    }
    root.style.setProperty("--ramp", theme.ramp.join(", "));
    for (const [name, value] of Object.entries(theme.classes)) root.style.setProperty(`--class-${name}`, value);
}
