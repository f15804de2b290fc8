"""What trials found in the page: phones, contrast, names, the last page, who may stop the arm, the token."""

import os
import re
import sqlite3
import subprocess
from pathlib import Path

import pytest
from drive import CHROMIUM, CITRANGE, READY, Drive, browser, one_browser, take_wheel  # noqa: F401 (fixtures)

SHOTS = os.environ.get("CITRANGE_SHOTS")
SCENES = Path(__file__).parent.parent / "scenes"


@pytest.fixture
def start(tmp_path):
    running = []

    def begin(*args):
        running.append(Drive(tmp_path, *args))
        return running[-1]

    yield begin
    for drive in running:
        drive.kill()


def shoot(page, name):
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/{name}.png")


# Everything that people press or read, with where it is and what a tap in its middle hits.
BOXES = """() => {
  const seen = [...document.querySelectorAll('button, select, .lamp, #phase, #about b, #hand, figure, .cap kbd, .cap span')];
  const shown = seen.filter((e) => e.checkVisibility() && e.getClientRects().length);
  return shown.map((e) => {
    if (e.matches('button, select')) e.scrollIntoView({block: 'nearest'});
    const r = e.getBoundingClientRect();
    // Where it is in the page, without what its surroundings cut off.
    let [left, top, right, bottom] = [r.left, r.top, r.right, r.bottom];
    for (let at = e.parentElement; at !== document.body; at = at.parentElement) {
      if (getComputedStyle(at).overflow === 'visible') continue;
      const edge = at.getBoundingClientRect();
      [left, top] = [Math.max(left, edge.left), Math.max(top, edge.top)];
      [right, bottom] = [Math.min(right, edge.right), Math.min(bottom, edge.bottom)];
    }
    const [x, y] = [left, top + scrollY + document.body.scrollTop];
    const hit = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
    const label = e.id || e.dataset.name || `${e.tagName} ${e.textContent.trim()}`;
    return {label, x, y, w: right - left, h: bottom - top, pressed: e.matches('button, select'),
            inside: shown.filter((o) => o !== e && (o.contains(e) || e.contains(o))).map((o) => shown.indexOf(o)),
            cut: e.scrollWidth > e.clientWidth + 1 && e.matches('button'),
            hit: hit !== null && (e.contains(hit) || hit.contains(e)), hits: hit?.textContent?.trim().slice(0, 30)};
  });
}"""


def overlap(a, b):
    across = min(a["x"] + a["w"], b["x"] + b["w"]) - max(a["x"], b["x"])
    down = min(a["y"] + a["h"], b["y"] + b["h"]) - max(a["y"], b["y"])
    return across > 1 and down > 1


def layout_faults(page):
    """What is wrong with where things are."""
    boxes = page.evaluate(BOXES)
    width = page.evaluate("() => innerWidth")
    faults = [f"{b['label']} is cut off at {b['x']:.0f}..{b['x'] + b['w']:.0f} of {width}"
              for b in boxes if b["pressed"] and not (-1 <= b["x"] and b["x"] + b["w"] <= width + 1)]  # fmt: skip
    faults += [f"a tap on {b['label']} hits {b['hits']!r}" for b in boxes if b["pressed"] and not b["hit"]]
    faults += [f"{b['label']}: its words do not fit" for b in boxes if b["cut"]]
    faults += [f"{b['label']} is only {b['w']:.0f}x{b['h']:.0f} px" for b in boxes
               if b["pressed"] and (b["h"] < 20 or b["w"] < 34)]  # fmt: skip
    for at, a in enumerate(boxes):
        for index, b in enumerate(boxes[:at]):
            if index not in a["inside"] and overlap(a, b):
                faults.append(f"{a['label']} lies on {b['label']}")
    wide = page.evaluate("() => document.documentElement.scrollWidth")
    if wide > width:
        faults.append(f"the page is {wide} px wide on {width}")
    return faults


PHONES = [(360, 640), (390, 844), (640, 360), (844, 390), (768, 1024), (1280, 800)]


@pytest.mark.parametrize("scene", ["block_box", "ur5_cell", "orange_plate"])
def test_nothing_overlaps_on_phones_and_zoom_is_allowed(start, browser, scene):
    drive = start(scene)
    for size in PHONES:
        page = browser.open(drive.link, size=size, has_touch=True)
        for driving in [False, True]:
            if driving:
                take_wheel(page)
            faults = layout_faults(page)
            page.evaluate("() => scrollTo(0, 0)")
            shoot(page, f"{scene}-{size[0]}x{size[1]}-{'driving' if driving else 'watching'}")
            assert faults == [], (size, driving, faults)
        content = page.locator("meta[name=viewport]").get_attribute("content")
        assert "user-scalable" not in content and "maximum-scale" not in content
        page.context.close()


def test_a_tap_on_a_key_of_a_phone_presses_that_key(start, browser):
    drive = start("block_box", "--cameras", "none")
    page = browser.open(drive.link, size=(360, 640), has_touch=True)
    take_wheel(page)
    for name in ["forward", "open", "roll left", "down"]:
        cap = page.get_by_title(name, exact=True)
        cap.scroll_into_view_if_needed()
        box = cap.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        held = name.replace(" ", "_")
        page.wait_for_function(f"() => window.citrange.status.held.includes('{held}')", timeout=20000)
        page.mouse.up()
        page.wait_for_function("() => window.citrange.status.held.length === 0", timeout=20000)


# Contrast of every word against what lies behind it, as WCAG 2 counts it.
CONTRAST = """() => {
  const parse = (text) => {
    const n = text.match(/[\\d.]+/g).map(Number);
    return text.startsWith('color(') ? [n[0] * 255, n[1] * 255, n[2] * 255, n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((c, i) => c * a + under[i] * (1 - a));
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const faint = [];
  for (const e of document.querySelectorAll('header *, aside *, footer *, #last *')) {
    const words = [...e.childNodes].filter((n) => n.nodeType === 3 && n.textContent.trim());
    if (!words.length || !e.checkVisibility() || e.matches('figcaption *, option')) continue;
    const line = [];
    for (let at = e; at; at = at.parentElement) line.unshift(at);
    let [back, opacity] = [[13, 17, 23], 1];
    for (const at of line) {
      const style = getComputedStyle(at);
      back = over(parse(style.backgroundColor), back);
      opacity *= Number(style.opacity);
    }
    const fore = over([...parse(getComputedStyle(e).color).slice(0, 3), opacity], back);
    const [a, b] = [light(fore), light(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.push(`${e.tagName}.${e.className} ${words[0].textContent.trim()}: ${ratio.toFixed(2)}`);
  }
  return faint;
}"""


def test_words_are_legible_also_on_disabled_buttons_and_canvases_have_names(start, browser):
    drive = start("orange_plate")
    driver, watcher = browser.open(drive.link), browser.open(drive.link)
    for page in (driver, watcher):
        assert page.evaluate(CONTRAST) == []
    take_wheel(driver)
    watcher.wait_for_function("() => document.getElementById('take').disabled", timeout=20000)
    assert watcher.locator("button:disabled").count() >= 7
    for page in (driver, watcher):
        assert page.evaluate(CONTRAST) == []
    names = driver.locator("canvas").evaluate_all("all => all.map((c) => c.getAttribute('aria-label'))")
    assert len(names) >= 4 and all(names), names


def test_a_word_stands_where_the_3d_view_will_be(start, browser):
    drive = start("block_box", "--cameras", "none")
    page = browser.browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    held = []
    # The drawing code does not come until it is let through.
    page.route("**/three.core.min.js", lambda route: held.append(route))
    page.goto(drive.link, wait_until="commit")
    page.wait_for_selector("#loading", state="visible")
    assert "3D" in page.locator("#loading").inner_text()
    while not held:
        page.wait_for_timeout(50)
    for route in held:
        route.continue_()
    page.unroute("**/three.core.min.js")
    page.wait_for_function(READY, timeout=60000)
    page.wait_for_selector("#loading", state="hidden", timeout=60000)


def test_forward_is_away_from_whoever_looks(start, browser):
    drive = start("block_box", "--cameras", "none")
    page = browser.open(drive.link)
    shoot(page, "view")
    take_wheel(page)
    before = page.evaluate("() => window.citrange.state.hand")
    page.keyboard.down("KeyW")
    page.wait_for_function(f"() => Math.hypot(...window.citrange.state.hand.map((v, i) => v - {before}[i])) > 0.02",
                           timeout=30000)  # fmt: skip
    page.keyboard.up("KeyW")
    after = page.evaluate("() => window.citrange.state.hand")
    eye = page.evaluate("() => window.citrange.eye")
    away = [eye["at"][i] - eye["from"][i] for i in (0, 1)]
    moved = [after[i] - before[i] for i in (0, 1)]
    size = lambda v: (v[0] ** 2 + v[1] ** 2) ** 0.5
    cosine = (away[0] * moved[0] + away[1] * moved[1]) / (size(away) * size(moved))
    assert cosine > 0.95, (away, moved)


def test_anybody_who_watches_stops_the_arm(start, browser):
    drive = start("block_box", "--cameras", "none")
    driver, watcher = browser.open(drive.link), browser.open(drive.link)
    take_wheel(driver)
    for how in ["button", "key"]:
        driver.keyboard.down("KeyQ")
        watcher.wait_for_function("() => window.citrange.status.held.includes('up')", timeout=20000)
        if how == "button":
            watcher.get_by_role("button", name="Stop the arm").click()
        else:
            watcher.keyboard.press("Space")
        driver.wait_for_function("() => window.citrange.status.stopped_by && !window.citrange.driving", timeout=20000)
        driver.wait_for_function("() => document.getElementById('notice').textContent.includes('Stopped by')", timeout=20000)
        watcher.wait_for_function("() => window.citrange.status.brake && window.citrange.status.held.length === 0",
                                  timeout=20000)  # fmt: skip
        # A key that is still down, or pressed, does not take the wheel by itself.
        driver.keyboard.up("KeyQ")
        driver.keyboard.press("KeyQ")
        assert watcher.evaluate("() => window.citrange.status.driver") is None
        take_wheel(driver)
        driver.wait_for_function("() => !window.citrange.status.stopped_by", timeout=20000)
    assert driver.errors == [] and watcher.errors == []


def test_one_page_too_many_is_told_so(start, browser):
    drive = start("block_box", "--cameras", "none", "--max-viewers", "1")
    first = browser.open(drive.link)
    page = browser.browser.new_context().new_page()
    page.goto(drive.link)
    page.wait_for_function("() => document.getElementById('notice').textContent.includes('1 of 1 pages')", timeout=30000)
    first.context.close()
    page.wait_for_function(READY, timeout=30000)


def test_a_finished_session_leaves_a_page_that_stays(start, browser, tmp_path):
    drive = start("block_box", "--record", "set", "--cameras", "none", "--countdown", "0", "--reset-time", "0",
                  "--episodes", "3")  # fmt: skip
    driver, watcher = browser.open(drive.link), browser.open(drive.link)
    take_wheel(driver)
    for number in (1, 2, 3):
        drive.wait_for("begin", number)
        driver.wait_for_function("() => window.citrange.status.session.phase === 'recording'", timeout=30000)
        driver.keyboard.press("Enter")
        drive.wait_for("saved", number)
    assert drive.end()["saved"] == 3
    for page in (driver, watcher):
        page.wait_for_selector("#last", state="visible", timeout=20000)
        page.wait_for_timeout(1500)  # Long enough for a page that would knock again.
        text = page.locator("#last").inner_text()
        assert "3 episodes are saved" in text and "Episode 2" in text, text
        assert str(tmp_path / "set") in text and "citrange replay set --verify" in text, text
        assert "gone" not in page.locator("body").inner_text()
        assert page.evaluate(CONTRAST) == [] and page.errors == []
    shoot(driver, "last")


# A recording that loses nearly all of its pictures: they are far larger than can be drawn in time.
def slow_camera(folder):
    scene = (SCENES / "block_box.yaml").read_text()
    scene, changed = re.subn(r"(top: \{.*?fovy_deg: 60)\}", r"\1, width_px: 3840, height_px: 2160}", scene)
    assert changed == 1
    (folder / "slow.yaml").write_text(scene)


def test_lost_pictures_are_red_and_asked_about(start, browser, tmp_path):
    slow_camera(tmp_path)
    drive = start("slow.yaml", "--record", "set", "--cameras", "top", "--countdown", "0", "--episodes", "1",
                  "--ask-time", "600")  # fmt: skip
    page = browser.open(drive.link)
    page.locator("#hz").select_option("0")
    take_wheel(page)
    drive.wait_for("begin")
    page.wait_for_function("() => document.getElementById('lost').classList.contains('bad')", timeout=60000)
    page.keyboard.press("Enter")
    asked = drive.wait_for("asking", limit_s=120)
    assert asked["lost_share"] > asked["limit"] == 0.05
    page.wait_for_selector("#ask", state="visible", timeout=30000)
    assert "lost" in page.locator("#ask-text").inner_text()
    shoot(page, "asking")
    page.wait_for_timeout(600)
    page.get_by_role("button", name="Throw it away").click()
    drive.wait_for("discarded", limit_s=120)
    assert drive.of("saved") == []


def test_a_replay_shows_no_loop_and_no_wheel(browser, tmp_path):
    run = [CITRANGE, "collect", "orange_plate", "--cameras", "none", "--seconds", "1", "--out", "set"]
    subprocess.run(run, cwd=tmp_path, check=True, capture_output=True)
    show = [CITRANGE, "replay", "set", "--show", "--speed", "0.2", "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(show, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        link = next(found[0] for line in process.stderr if (found := re.findall(r"http://\S+", line)))
        page = browser.open(link)
        shoot(page, "replay")
        for gone in ["#meters", "#take", "#halt", "#caps", "#orders"]:
            assert not page.locator(gone).is_visible(), gone
        header = page.locator("header").inner_text()
        assert "Hz" not in header and "Not recording" not in header, header
        page.wait_for_selector("#last", state="visible", timeout=60000)
        assert "The replay is over" in page.locator("#last").inner_text()
    finally:
        process.kill()
        process.wait()


def visited(one_browser, profile, visit):
    """All addresses in the files of a browser, and those of them that its list of visited pages shows."""
    context = one_browser.playwright.chromium.launch_persistent_context(
        profile, executable_path=one_browser.path, args=CHROMIUM)  # fmt: skip
    try:
        visit(context.new_page())
    finally:
        context.close()
    with sqlite3.connect(profile / "Default" / "History") as history:
        rows = history.execute("select urls.url, transition from urls join visits on visits.url = urls.id").fetchall()
    assert rows, "the browser keeps a history"
    # A visit that was sent on is not the end of its chain, and not listed.
    return {url for url, _ in rows}, {url for url, transition in rows if transition & 0x20000000}


def test_the_token_leaves_the_address_and_is_not_listed_among_visited_pages(start, one_browser, tmp_path):
    drive = start("block_box", "--cameras", "none")
    bare, token = drive.link.split("?token=")

    def by_link(page):
        page.goto(drive.link)
        page.wait_for_function(READY, timeout=60000)
        assert token not in page.url
        page.reload()
        page.wait_for_function(READY, timeout=60000)
        assert token not in page.url

    _, listed = visited(one_browser, tmp_path / "by_link", by_link)
    assert listed and not [url for url in listed if token in url], listed

    # Nothing at all stays of a token that was pasted into the bare page.
    def by_hand(page):
        page.goto(bare)
        page.get_by_label("paste the token").fill(token)
        page.get_by_role("button", name="Open").click()
        page.wait_for_function(READY, timeout=60000)
        assert token not in page.url

    everything, _ = visited(one_browser, tmp_path / "by_hand", by_hand)
    assert not [url for url in everything if token in url], everything
