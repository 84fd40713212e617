import { afterAll, expect, test } from "vitest";
import { closeBrowser, describeInBrowser, nextFrame, openPage, visit } from "./page";

afterAll(closeBrowser);

describeInBrowser("without a mouse", () => {
    test("tabs are walked with the arrow keys", async () => {
        const { page } = await openPage("checkpoints");
        await page.keyboard.press("Tab");
        expect(await page.evaluate(() => document.activeElement?.id)).toBe("tab-overview");
        await page.keyboard.press("ArrowRight");
        await page.keyboard.press("ArrowRight");
        await page.locator("#panel-phases").waitFor({ state: "visible" });
        expect(await page.evaluate(() => document.activeElement?.id)).toBe("tab-phases");
        expect(await page.locator("[role=tab][tabindex='0']").count()).toBe(1);
        await page.keyboard.press("End");
        await page.locator("#panel-predictability").waitFor({ state: "visible" });
        await page.keyboard.press("ArrowRight");
        await page.locator("#panel-overview").waitFor({ state: "visible" });
        await page.context().close();
    });

    test("tables are sorted, walked and chosen from", async () => {
        const { page } = await openPage("checkpoints");
        await visit(page, "files");
        const path = page.locator("#panel-files th", { hasText: "Path" });
        await path.locator("button").focus();
        await page.keyboard.press("Enter");
        expect(await path.getAttribute("aria-sort")).toBe("ascending");
        expect(await page.locator("#panel-files tbody tr").first().innerText()).toContain("/home/ada/sedov/sedov.par");
        await page.locator("#panel-files tbody tr").first().focus();
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("Enter");
        expect(await page.locator("#panel-files .detail-card h3").innerText()).toContain("chk_0000");
        await page.context().close();
    });

    test("the filter leaves the rows that hold its words", async () => {
        const { page } = await openPage("checkpoints");
        await visit(page, "files");
        await page.locator("#panel-files input[type=search]").fill("sedov 0003");
        expect(await page.locator("#panel-files tbody tr").count()).toBe(1);
        expect(await page.locator("#panel-files .table .status").innerText()).toBe("1 of 10");
        await page.context().close();
    });

    test("the timeline is zoomed, moved, and its calls are stepped through", async () => {
        const { page, complaints } = await openPage("checkpoints");
        await visit(page, "timeline");
        const sight = page.locator(".sight");
        await page.locator(".stage").focus();
        await page.keyboard.press("+");
        await nextFrame(page);
        expect(await sight.innerText()).toContain("45 s to 135 s");
        await page.keyboard.press("ArrowRight");
        await nextFrame(page);
        expect(await sight.innerText()).toContain("63 s to 153 s");
        await page.keyboard.press("]");
        await nextFrame(page);
        expect(await sight.innerText()).toContain("rank 16 on node002 to rank 47 on node003");
        await page.keyboard.press("0");
        await nextFrame(page);
        expect(await sight.innerText()).toContain("0 s to 180 s");
        await page.keyboard.press("n");
        const first = await page.locator(".call-panel").innerText();
        await page.keyboard.press("n");
        const second = await page.locator(".call-panel").innerText();
        expect(first).toContain("H5Dwrite");
        expect(second).toContain("H5Dwrite");
        expect(second).not.toBe(first);
        await page.keyboard.press("p");
        expect(await page.locator(".call-panel").innerText()).toBe(first);
        await page.keyboard.press("Enter");
        await page.locator("#panel-calls .parts").waitFor();
        expect(complaints).toEqual([]);
        await page.context().close();
    });
});
