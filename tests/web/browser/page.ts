/** Opens a sample page in Chromium, from disk and without a network; what goes wrong in it is kept. */

import { existsSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium, type Browser, type Page } from "playwright-core";
import { describe } from "vitest";

export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
/** Of one run. */
export const VIEWS = [
    "overview",
    "findings",
    "phases",
    "timeline",
    "files",
    "calls",
    "servers",
    "predictability",
] as const;

const missing = existsSync(CHROMIUM) ? "" : `: skipped, there is no ${CHROMIUM} (CHROMIUM=… names another)`;

/** Tests that need the browser; without one they are skipped, and their names say so. */
export function describeInBrowser(name: string, tests: () => void): void {
    describe.skipIf(missing !== "")(name + missing, tests);
}

let browser: Promise<Browser> | undefined;

export function launch(): Promise<Browser> {
    browser ??= chromium.launch({
        executablePath: CHROMIUM,
        // There is none, and what stands in for one takes longer than to draw without.
        args: ["--no-sandbox", "--disable-gpu"],
    });
    return browser;
}

export async function closeBrowser(): Promise<void> {
    await (await browser)?.close();
    browser = undefined;
}

export interface Opened {
    page: Page;
    /** Messages of the console that are errors or warnings, uncaught errors, and requests that left the page. */
    complaints: string[];
}

export interface Look {
    width?: number;
    scheme?: "light" | "dark";
    hash?: string;
}

export async function openPage(
    name: string,
    { width = 1280, scheme = "light", hash = "" }: Look = {},
): Promise<Opened> {
    const context = await (await launch()).newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
    await context.setOffline(true);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
    page.on("request", (request) => {
        if (!/^(file|data|blob):/.test(request.url())) complaints.push(`request: ${request.url()}`);
    });
    const path = fileURLToPath(new URL(`../../../build/viewer-pages/${name}.html`, import.meta.url));
    await page.goto(pathToFileURL(path).href + hash);
    await page.locator("#page[data-ready]").waitFor();
    return { page, complaints };
}

/** Goes to a view and waits until its pictures stand. */
export async function visit(page: Page, view: string): Promise<void> {
    await page.click(`#tab-${view}`);
    await page.locator(`#panel-${view}`).waitFor({ state: "visible" });
    await nextFrame(page);
}

export async function nextFrame(page: Page): Promise<void> {
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}
