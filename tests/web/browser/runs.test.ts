import { afterAll, expect, test } from "vitest";
import { closeBrowser, describeInBrowser, nextFrame, openPage } from "./page";

afterAll(closeBrowser);

/** Texts of the chart that are written in it. */
const TEXTS = "#panel-runs .chart-place svg text";

const LINES = '#panel-runs .chart-place svg path[fill="none"][stroke-width="1.6"]';

describeInBrowser("a page of several runs", () => {
    test.each([
        [1280, "light"],
        [1280, "dark"],
        [800, "light"],
    ] as const)("shows a picture for each pair of parameters at %i pixels, %s", async (width, scheme) => {
        const { page, complaints } = await openPage("experiment", { width, scheme });
        expect(await page.locator("[role=tab]").allInnerTexts()).toEqual(["Runs"]);
        const texts = await page.locator(TEXTS).allTextContents();
        for (const head of ["mode = own", "shared", "nodes =", "1", "4", "16", "no run"]) expect(texts).toContain(head);
        expect(texts.filter((text) => text.startsWith("±")).length).toBe(5);
        const phases = await page.evaluate(() => {
            const { experiment } = JSON.parse(document.getElementById("halcyon-document")!.textContent!);
            return experiment.runs.flatMap((run: { phases: { rank_count: number }[] }) =>
                run.phases.filter(({ rank_count }) => rank_count > 1),
            ).length;
        });
        expect(phases).toBeGreaterThanOrEqual(24); // four checkpoints of six runs
        expect(await page.locator(LINES).count()).toBe(phases);
        const wider = await page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect(wider).toBeLessThanOrEqual(0);
        expect(complaints).toEqual([]);
        await page.context().close();
    });

    test("names what could not be read before all else", async () => {
        const { page } = await openPage("experiment");
        const first = page.locator("#panel-runs > div > *").first();
        expect(await first.innerText()).toContain("1 run could not be read");
        expect(await first.innerText()).toContain("broken.darshan");
        await page.context().close();
    });

    test("changes rows, columns and times as it is told", async () => {
        const { page, complaints } = await openPage("experiment");
        await page.selectOption("#grid-rows", "mode");
        expect(await page.locator("#grid-columns").inputValue()).toBe("nodes");
        let texts = await page.locator(TEXTS).allTextContents();
        expect(texts).toContain("nodes = 1");
        expect(texts).toContain("mode =");
        await page.selectOption("#grid-columns", "");
        await page.selectOption("#grid-time", "share");
        texts = await page.locator(TEXTS).allTextContents();
        expect(texts.filter((text) => text.startsWith("±")).length).toBe(2);
        expect(texts).toContain("100 %");
        expect(complaints).toEqual([]);
        await page.context().close();
    });

    test("says in words where one rank wrote alone, and chooses an axis that shows the fast runs", async () => {
        const { page, complaints } = await openPage("from-one-rank");
        const texts = (await page.locator(TEXTS).allTextContents()).join(" ");
        expect(texts).toContain("One rank wrote, in ");
        expect(texts).toContain("on a logarithmic axis");
        expect(await page.locator("#grid-time").inputValue()).toBe("log");
        expect(await page.locator(LINES).count()).toBe(4); // two phases each of 4 and of 16 ranks
        const heads = (await page.locator("#panel-runs th").allInnerTexts()).map((head) => head.trim().toLowerCase());
        expect(heads.filter((head) => head === "ranks").length).toBe(1);
        expect(complaints).toEqual([]);
        await page.context().close();
    });

    test("lists the runs of a picture that is clicked", async () => {
        const { page } = await openPage("experiment");
        const rows = page.locator("#panel-runs tbody tr");
        expect(await rows.count()).toBe(6);
        const chart = page.locator("#panel-runs .chart-place");
        const { width, height } = (await chart.boundingBox())!;
        await chart.click({ position: { x: 0.3 * width, y: height - 100 } }); // no run
        expect(await rows.count()).toBe(6);
        await chart.click({ position: { x: 0.8 * width, y: height - 100 } });
        await nextFrame(page);
        expect(await rows.allInnerTexts()).toEqual([expect.stringContaining("nodes=16")]);
        await page.getByRole("button", { name: "All runs" }).click();
        expect(await rows.count()).toBe(6);
        await page.context().close();
    });

    test("goes to its runs when the address is of another view", async () => {
        const { page, complaints } = await openPage("experiment", { hash: "#timeline?from=1" });
        await page.locator("#panel-runs").waitFor({ state: "visible" });
        expect(complaints).toEqual([]);
        await page.context().close();
    });
});
