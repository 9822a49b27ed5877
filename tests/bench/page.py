"""The page to sign on a slow phone: 1.6 Mbit/s, 150 ms to the server and back, a processor four times slower.

Chromium says itself when what was painted, by its observers of paints, shifts and resources; a stranger's first
visit, so nothing is cached. The fields are operable when the button that leads to them answers.
"""

import base64
import io
import statistics
import time
from collections.abc import Mapping
from typing import Any

import pikepdf
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from esign.demo import contract
from tests.bench.installation import BenchInstallation, install_program
from tests.bench.links import make_link, open_link
from tests.browser.conftest import ARGS, CHROMIUM

LOADS = 5
LATENCY, BITS, SLOWER = 150, 1_600_000, 4
LONG = 200
FAR = 60  # pages of a file whose only field is on the last
SCREENS: Mapping[str, Mapping[str, Any]] = {
    "phone": {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2, "has_touch": True},
    "desk": {"viewport": {"width": 1280, "height": 800}, "device_scale_factor": 1},
}
WATCH = """
window.seen = { shift: 0 };
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) seen.shift += one.value;
}).observe({ type: "layout-shift", buffered: true });
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) seen.readable ??= one.renderTime;
}).observe({ type: "element", buffered: true });
new MutationObserver(() => {
  const page = document.querySelector(".page img"), next = document.querySelector("#next[data-does]");
  if (page && !page.hasAttribute("elementtiming")) page.setAttribute("elementtiming", "page");
  if (next) seen.operable ??= performance.now();
}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-does"] });
"""
SENT = """() => {
  const sent = performance.getEntriesByType("resource");
  const size = (test) => sent.filter(test).reduce((sum, one) => sum + one.encodedBodySize, 0);
  return {
    ...window.seen,
    html: performance.getEntriesByType("navigation")[0].encodedBodySize,
    code: size((one) => /\\.(js|css)$/.test(one.name)),
    pictures: size((one) => one.name.includes("/pages/")),
    painted: performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
  };
}"""

JUMP = """(number) => new Promise((done) => {
  const began = performance.now(), asked = () => performance.getEntriesByType("resource").length, before = asked();
  const look = () => {
    const img = document.querySelector(`#page-${number} > img`), { top, bottom } = img.getBoundingClientRect();
    const there = img.src.includes("/pages/") && img.complete && img.naturalWidth;
    const seen = there && top < innerHeight && bottom > 0;
    requestAnimationFrame(seen ? () => done({ jump: performance.now() - began, passed: asked() - before }) : look);
  };
  document.querySelector("#next").click();
  look();
})"""


async def run() -> None:
    async with install_program() as at, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        for name, pdf in (("3 pages", contract.read_pdf()), (f"{LONG} pages", long_contract(LONG))):
            path, signer = await send_contract(at, pdf)
            link = await make_link(at, path, signer["id"])
            for screen, how in SCREENS.items():
                tell(f"{name}, {screen}", [await load(browser, at, link, how) for _ in range(LOADS)])
        path, signer = await send_contract(at, long_contract(FAR), on=FAR)
        link = await make_link(at, path, signer["id"])
        tell_jump([await jump(browser, link) for _ in range(LOADS)])
        await browser.close()
        times = [await finish(at) for _ in range(LOADS)]
    print(f"\nfinishing answered   {1000 * statistics.median(times):6.0f} ms   (at most 300 ms)")


async def send_contract(
    at: BenchInstallation, pdf: bytes, on: int | None = None
) -> tuple[str, dict[str, Any]]:
    """The sample contract or a longer one: its address in the API, and its first signer.

    With `on`, the only field is a signature on that page.
    """
    body = contract.build_create_body() | {"file": base64.b64encode(pdf).decode(), "send": True}
    if on is not None:
        field = {"type": "signature", "page": on, "x": 10, "y": 70}
        body["recipients"] = [{"name": contract.CAFE[0], "email": contract.CAFE[1], "fields": [field]}]
    made = await at.call("POST", "/api/v1/documents", body)
    path = f"/api/v1/documents/{made['id']}"
    recipients = (await at.call("GET", path))["recipients"]
    return path, next(one for one in recipients if one["email"] == contract.CAFE[1])


def long_contract(pages: int) -> bytes:
    """The sample contract over and over."""
    with pikepdf.open(io.BytesIO(contract.read_pdf())) as pdf:
        while len(pdf.pages) < pages:
            pdf.pages.append(pdf.pages[len(pdf.pages) % 3])
        target = io.BytesIO()
        pdf.save(target)
    return target.getvalue()


async def load(
    browser: Browser, at: BenchInstallation, link: str, how: Mapping[str, Any]
) -> dict[str, float]:
    """One first visit, until nothing is on its way any more; before it, the least that any page takes here."""
    context, page = await slow_browser(browser, how)
    await page.goto(f"{at.base}/healthz")
    await page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
    floor = (await page.evaluate(SENT))["painted"]
    await page.goto(link, wait_until="networkidle")
    await page.wait_for_function("() => window.seen.readable && window.seen.operable")
    seen: dict[str, float] = await page.evaluate(SENT)
    await operate(page)
    await context.close()
    return seen | {"floor": floor}


async def slow_browser(browser: Browser, how: Mapping[str, Any]) -> tuple[BrowserContext, Page]:
    context = await browser.new_context(**how)
    page = await context.new_page()
    devtools = await context.new_cdp_session(page)
    speed = BITS / 8
    network = {"offline": False, "latency": LATENCY, "downloadThroughput": speed, "uploadThroughput": speed}
    await devtools.send("Network.enable")
    await devtools.send("Network.emulateNetworkConditions", network)
    await devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    await page.add_init_script(WATCH)
    return context, page


async def jump(browser: Browser, link: str) -> dict[str, float]:
    """Milliseconds from "Start" until the page of the field is painted, and how many requests were made meanwhile."""
    context, page = await slow_browser(browser, SCREENS["phone"])
    await page.goto(link, wait_until="networkidle")
    await page.wait_for_function("() => window.seen.readable && window.seen.operable")
    seen: dict[str, float] = await page.evaluate(JUMP, FAR)
    await context.close()
    return seen


def tell_jump(jumps: list[dict[str, float]]) -> None:
    median = {key: statistics.median(one[key] for one in jumps) for key in jumps[0]}
    print(f"\n{FAR} pages, phone, from Start to the page of the field, median of {len(jumps)}")
    print(f"page readable        {median['jump']:6.0f} ms   (at most 500 ms)")
    print(f"requests meanwhile   {median['passed']:6.0f}")


async def operate(page: Page) -> None:
    """The button does what it says, or the moment that was taken was no moment."""
    await page.locator("#next").click()
    await page.locator("#dock [data-field]:visible").first.wait_for()


def tell(name: str, loads: list[dict[str, float]]) -> None:
    median = {key: statistics.median(one[key] for one in loads) for key in loads[0]}
    print(f"\n{name}, median of {len(loads)} loads")
    print(f"a line of text       {median['floor']:6.0f} ms   (the floor: /healthz in the same browser)")
    print(f"first words painted  {median['painted']:6.0f} ms")
    print(f"first page readable  {median['readable']:6.0f} ms   (at most 2000 ms)")
    print(f"first field operable {median['operable']:6.0f} ms   (at most 2500 ms)")
    print(f"script and style     {median['code'] / 1000:6.1f} kB   (at most 40 kB, compressed)")
    print(f"layout shift         {median['shift']:6.3f}      (at most 0.02)")
    print(
        f"the page itself      {median['html'] / 1000:6.1f} kB, pictures {median['pictures'] / 1000:.0f} kB"
    )


async def finish(at: BenchInstallation) -> float:
    """Seconds until a drawn signature and thirteen answers are accepted."""
    path, signer = await send_contract(at, contract.read_pdf())
    link = await open_link(at, path, signer["id"])
    choices = {field["id"]: contract.choose_answer(contract.CAFE, field) for field in signer["fields"]}
    body = link.build_completion({id: value for id, value in choices.items() if value is not None})
    began = time.perf_counter()
    await at.call("POST", f"{link.address}/complete", body)
    return time.perf_counter() - began
