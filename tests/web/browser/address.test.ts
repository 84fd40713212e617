import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { closeBrowser, describeInBrowser, nextFrame, openPage, visit } from "./page";

afterAll(closeBrowser);

/** The address as soon as it has all of these. */
async function addressWith(page: Page, ...parts: string[]): Promise<string> {
    await page.waitForFunction((wanted) => wanted.every((part) => location.hash.includes(part)), parts);
    return page.evaluate(() => location.hash);
}

const sight = (page: Page) => page.locator(".sight").innerText();

describeInBrowser("the address", () => {
    test("holds zoom, filter and selection of the timeline", async () => {
        const { page, complaints } = await openPage("checkpoints");
        await visit(page, "timeline");
        await page.fill("#timeline-file", "chk_0002");
        await page.getByLabel("HDF5", { exact: true }).uncheck();
        await page.locator(".stage").focus();
        for (const key of ["+", "+", "+", "]", "n"]) await page.keyboard.press(key);
        const hash = await addressWith(page, "from=", "rows=", "filter=chk_0002", "levels=", "call=");
        const seen = await sight(page);
        const call = await page.locator(".call-panel").innerText();
        const other = await openPage("checkpoints", { hash });
        await nextFrame(other.page);
        expect(await sight(other.page)).toBe(seen);
        expect(await other.page.locator("#timeline-file").inputValue()).toBe("chk_0002");
        expect(await other.page.getByLabel("HDF5", { exact: true }).isChecked()).toBe(false);
        expect(await other.page.locator(".call-panel").innerText()).toBe(call);
        // What was read is written again, to the digit.
        expect(await addressWith(other.page, "from=")).toBe(hash);
        expect(complaints).toEqual([]);
        await page.context().close();
        await other.page.context().close();
    });

    test("holds filter and selection of the files, the phase and the server", async () => {
        const { page, complaints } = await openPage("checkpoints");
        await visit(page, "files");
        await page.locator("#panel-files input[type=search]").fill("chk lustre");
        await page.locator("#panel-files tr.choice", { hasText: "chk_0003" }).click();
        const files = await addressWith(page, "#files", "filter=chk+lustre", "file=");
        await visit(page, "phases");
        await page.locator("#panel-phases tr.choice").nth(4).click();
        const phases = await addressWith(page, "#phases", "phase=");
        await visit(page, "servers");
        await page.locator("#panel-servers tr.choice").nth(3).click();
        const servers = await addressWith(page, "#servers", "server=");
        const other = await openPage("checkpoints", { hash: files });
        expect(await other.page.locator("#panel-files input[type=search]").inputValue()).toBe("chk lustre");
        expect(await other.page.locator("#panel-files tbody tr").count()).toBe(8);
        expect(await other.page.locator('#panel-files tr[aria-selected="true"]').innerText()).toContain("chk_0003");
        for (const [view, hash, shown] of [
            ["phases", phases, "h3.chosen"],
            ["servers", servers, "figure:last-of-type h3"],
        ] as const) {
            await other.page.evaluate((to) => (location.hash = to), hash);
            await other.page.locator(`#panel-${view}`).waitFor();
            const before = page.locator(`#panel-${view} ${shown}`).last();
            expect(await other.page.locator(`#panel-${view} ${shown}`).last().innerText()).toBe(
                await before.evaluate((element) => element.textContent),
            );
        }
        expect(complaints).toEqual([]);
        await page.context().close();
        await other.page.context().close();
    });

    test("holds the grid of several runs", async () => {
        const { page } = await openPage("experiment");
        await page.selectOption("#grid-rows", "mode");
        await page.selectOption("#grid-time", "share");
        const hash = await addressWith(page, "row=mode", "times=share");
        const other = await openPage("experiment", { hash });
        expect(await other.page.locator("#grid-rows").inputValue()).toBe("mode");
        expect(await other.page.locator("#grid-columns").inputValue()).toBe("nodes");
        expect(await other.page.locator("#grid-time").inputValue()).toBe("share");
        await page.context().close();
        await other.page.context().close();
    });

    test("is left behind by the reader, so that the same link leads to the worst moment again", async () => {
        const { page } = await openPage("checkpoints");
        await visit(page, "findings");
        const worst = page.locator("[data-finding=slow-rank-write] a.worst");
        await worst.click();
        await page.locator("#panel-timeline").waitFor();
        await nextFrame(page);
        const there = await sight(page);
        await page.locator(".stage").focus();
        await page.keyboard.press("0");
        await nextFrame(page);
        expect(await sight(page)).not.toBe(there);
        await page.click("#tab-findings");
        await worst.click();
        await page.locator("#panel-timeline").waitFor();
        await nextFrame(page);
        expect(await sight(page)).toBe(there);
        await page.context().close();
    });
});

describeInBrowser("a page of counters alone", () => {
    test("says so above every view, and shows what was not counted as –", async () => {
        const { page, complaints } = await openPage("counted");
        const banner = page.locator(".banner");
        expect(await banner.innerText()).toContain("Counters only");
        const overview = await page.locator("#panel-overview").innerText();
        expect(overview).toMatch(/calls\s+–/i);
        expect(overview).not.toContain("Nothing was lost");
        expect(overview).not.toContain("as MPI-IO bounds it");
        await visit(page, "calls");
        expect(await page.locator("#panel-calls").innerText()).not.toContain("No MPI-IO");
        expect(await banner.isVisible()).toBe(true);
        await visit(page, "servers");
        const servers = await page.locator("#panel-servers").innerText();
        expect(servers).toContain("spread evenly");
        expect(servers).not.toContain("nothing was asked of it");
        expect(await page.locator("#panel-servers tbody tr").first().innerText()).toMatch(
            /OST29\s+1\s+52\.9 GB\s+52\.9 GB/,
        );
        expect(complaints).toEqual([]);
        await page.context().close();
    });
});
