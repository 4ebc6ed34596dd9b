"""The page of an audit: what stands in its source, and what it does in a real browser at the width of a desk and a hand."""

import json
import re
from html.parser import HTMLParser

import browser as browsers
import numpy as np
import pandas as pd
import pytest

from rescaleinv import scaling_audit, write_report
from rescaleinv.audit.report import render_report, safe_json, shown_points
from rescaleinv.datasets import load
from rescaleinv.errors import CertificateError, InputError

EVIL = "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">"
PAPER = ([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
NAMES = ["<script>", "a & b", EVIL, "naïve €", "'\"`", "plain", "mitoses"]
N = 60

needs_chromium = pytest.mark.skipif(
    browsers.CHROMIUM is None or browsers.DRIVER is None,
    reason="no chromium and chromedriver here: the page was not tried in a browser (apt-get install chromium-driver)",
)


@pytest.fixture(scope="module")
def audit():
    features, labels, _ = load("breast_cancer_wisconsin")
    table = pd.DataFrame(features[:, [0, 1, 3, 4, 6, 7, 8]], columns=NAMES)
    points = table[30 : 30 + N].set_index(np.array([f"p{i}<b>" for i in range(N)], dtype=object))
    return scaling_audit(
        table[:30],
        labels[:30],
        points,
        labels[30 : 30 + N],
        class_names=("<u>ill</u>", "well"),
        noun="<i>people</i>",
        most_radii=3,
    )


@pytest.fixture(scope="module")
def small():
    return scaling_audit(*PAPER, [[-1, 4], [4, 4], [0, 0], [-2, 5]], scalings={})


@pytest.fixture(scope="module")
def kept():
    return pd.DataFrame({"who<": [f"<b>{EVIL}{i}</b>" for i in range(N)]})


@pytest.fixture(scope="module")
def page(audit, kept, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "audit.html"
    write_report(audit, path, title=f"Audit {EVIL}", kept=kept)
    return path


# --- the source -----------------------------------------------------------------------------------------------------


def test_no_text_of_the_data_is_markup(page):
    source = page.read_text(encoding="utf-8")
    assert len(re.findall(r"<script", source)) == 2
    assert len(re.findall(r"</script", source)) == 2
    for tag in ("<b>p", "<img src=x", "<u>ill", "<i>people", "<script>document"):
        assert tag not in source
    assert "&lt;script&gt;" in source


def test_nothing_is_loaded_from_elsewhere(page):
    source = page.read_text(encoding="utf-8")
    addresses = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: addresses.extend(
        value for name, value in attributes if name in ("src", "href", "action", "data", "srcset", "poster")
    )
    parser.feed(source)
    assert len(addresses) > 8  # links in the page, and the icon that is not asked for
    assert all(address.startswith(("data:", "#")) for address in addresses)
    assert "@import" not in source
    assert all(link.startswith("#") for link in re.findall(r"url\((.)", source))
    assert "default-src 'none'" in source


def test_the_same_audit_is_the_same_page(small):
    assert render_report(small) == render_report(small)


def test_the_page_has_the_findings_and_the_numbers(audit, page):
    import html

    text = html.unescape(page.read_text(encoding="utf-8"))
    for finding in audit.findings:
        assert finding.text in text
    data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.S).group(1))
    assert data["features"] == NAMES
    neutral = np.flatnonzero(audit.verdicts.neutral)
    for i in range(N):
        point = data["points"][str(i)]
        assert point["values"] == audit.verdicts.points[i].tolist()
        assert len(point["rescalings"]) == (2 if i in neutral else 0)
    positive, negative = audit.two_rescalings(int(neutral[0]))
    shown = data["points"][str(neutral[0])]["rescalings"]
    assert [one["factors"] for one in shown] == [positive.factors.tolist(), negative.factors.tolist()]
    assert shown[0]["value"] >= 0 > shown[1]["value"]


def test_neutral_points_come_first_where_there_is_no_room_for_all(audit, small):
    neutral = np.flatnonzero(audit.verdicts.neutral).tolist()
    assert shown_points(audit, len(neutral)) == neutral
    assert shown_points(audit, 1000)[: len(neutral)] == neutral
    assert sorted(shown_points(audit, 1000)) == list(range(N))
    assert small.verdicts.neutral.tolist() == [True, False, False, True]
    source = render_report(small, max_points=3)
    assert source.count("<tr data-number=") == 3
    assert '<tr data-number="2"' not in source
    assert "1 more are not shown" in source


def test_json_in_a_page_ends_no_element():
    text = safe_json({"<": ["</script>", "&amp;", "\u2028", float("nan"), 1.5]})
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"<": ["</script>", "&amp;", "\u2028", None, 1.5]}


def test_what_can_not_be_written_is_said(audit, small, kept, tmp_path):
    with pytest.raises(InputError, match="can't be written"):
        write_report(small, tmp_path / "no" / "such.html")
    with pytest.raises(InputError, match=f"3 rows for {N} points"):
        render_report(audit, kept=kept[:3])
    with pytest.raises(InputError, match="what scaling_audit returns"):
        render_report("audit")
    with pytest.raises(InputError, match="max_points is 0"):
        render_report(audit, max_points=0)


def test_a_neutral_point_whose_rescalings_can_not_be_written_down_is_no_reason_for_no_page(small, monkeypatch):
    def refuse(self, i):
        raise CertificateError("no finite rescaling near this classifier was found")

    monkeypatch.setattr(type(small), "two_rescalings", refuse)
    assert "too extreme to be written down" in render_report(small)


def test_without_the_extra_the_error_says_what_to_install(audit, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(InputError, match=r'pip install "rescaleinv\[audit\]"'):
        render_report(audit)


# --- in a browser ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chromium():
    with browsers.chromium() as browser:
        yield browser


@pytest.fixture(params=[1280, 390], ids=["desk", "hand"])
def opened(request, chromium, page):
    chromium.get_log("browser")
    chromium.get_log("performance")
    browsers.open_page(chromium, page, request.param)
    yield chromium
    assert [entry for entry in chromium.get_log("browser") if entry["level"] != "INFO"] == []
    assert chromium.title.startswith("Audit </script>")


def run(browser, script, *arguments):
    return browser.execute_script(script, *arguments)


def visible_rows(browser):
    rows = "[...document.querySelectorAll('tr[data-number]')].filter(row => !row.hidden)"  # on whichever page
    return run(browser, f"return {rows}.map(row => +row.dataset.number)")


@needs_chromium
def test_the_page_loads_without_errors_and_fits_its_window(opened):
    assert run(opened, "return document.documentElement.scrollWidth <= innerWidth")
    drawings = "[...document.querySelectorAll('figure svg')].map(i => i.getBoundingClientRect())"
    pictures = run(opened, f"return {drawings}.map(r => [r.width, r.height, r.right])")
    assert len(pictures) == 5
    window = run(opened, "return innerWidth")
    assert all(width > 250 and height > 100 and right <= window for width, height, right in pictures)
    events = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    sent = [one["params"] for one in events if one["method"] == "Network.requestWillBeSent"]
    asked = [one["request"]["url"] for one in sent if one["documentURL"].startswith("file:")]  # by the page
    assert asked
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert run(opened, "return document.querySelectorAll('script').length") == 2
    assert run(opened, "return document.querySelectorAll('img, u, i').length") == 0


@needs_chromium
def test_rows_are_sorted_by_a_press_on_a_header(opened, audit):
    def press(title):
        script = (
            "[...document.querySelectorAll('#points thead button')].find(b => b.textContent === arguments[0]).click()"
        )
        run(opened, script, title)

    press("least")
    expected = np.argsort(audit.verdicts.lower, kind="stable")
    np.testing.assert_allclose(audit.verdicts.lower[visible_rows(opened)], audit.verdicts.lower[expected])
    press("least")
    np.testing.assert_allclose(audit.verdicts.lower[visible_rows(opened)], audit.verdicts.lower[expected][::-1])
    press("row")
    assert visible_rows(opened) == list(range(N))  # p2 before p10
    press("verdict")
    words = [audit.words(int(audit.verdicts.code[i])) for i in visible_rows(opened)]
    assert words == sorted(words)
    assert run(opened, "return document.querySelectorAll('th[aria-sort]').length") == 1


@needs_chromium
def test_rows_are_filtered(opened, audit):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    Select(opened.find_element(By.ID, "verdict")).select_by_value("neutral")
    neutral = np.flatnonzero(audit.verdicts.neutral).tolist()
    assert visible_rows(opened) == neutral
    assert opened.find_element(By.ID, "shown").text == f"{len(neutral)} of {N}"
    opened.find_element(By.ID, "split").click()
    assert visible_rows(opened) == np.flatnonzero(audit.verdicts.neutral & audit.split).tolist()
    opened.find_element(By.ID, "split").click()
    Select(opened.find_element(By.ID, "verdict")).select_by_visible_text("all")
    opened.find_element(By.ID, "search").send_keys("P17<B>")
    assert visible_rows(opened) == [17]


@needs_chromium
def test_a_press_on_a_neutral_point_shows_its_two_rescalings(opened, audit):
    from selenium.webdriver.common.by import By

    neutral, strong = (int(np.flatnonzero(mask)[0]) for mask in (audit.verdicts.neutral, audit.verdicts.strong))

    def press(i):
        button = opened.find_element(By.CSS_SELECTOR, f'tr[data-number="{i}"] button')
        while not button.is_displayed():
            run(opened, "document.getElementById('next').click()")
        run(opened, "arguments[0].scrollIntoView({block: 'center'})", button)
        run(opened, "arguments[0].click()", button)
        return button

    button = press(neutral)
    assert button.get_attribute("aria-expanded") == "true"
    boxes = opened.find_elements(By.CSS_SELECTOR, "tr.detail .pair > div")
    pair = audit.two_rescalings(neutral)
    assert len(boxes) == 2
    for box, one, label in zip(boxes, pair, ("well", "<u>ill</u>"), strict=True):
        assert box.find_element(By.TAG_NAME, "h4").text == f"{one.name}: {label}"
        rows = box.find_elements(By.CSS_SELECTOR, "table > tbody > tr")
        assert [row.find_element(By.TAG_NAME, "th").text for row in rows] == NAMES
        shown = [float(row.find_elements(By.TAG_NAME, "td")[2].text) for row in rows]
        np.testing.assert_allclose(shown, one.contributions, rtol=1e-2)
    assert run(opened, "return document.documentElement.scrollWidth <= innerWidth")
    press(strong)
    assert len(opened.find_elements(By.CSS_SELECTOR, "tr.detail")) == 1
    assert "under every rescaling" in opened.find_element(By.CSS_SELECTOR, "tr.detail").text
    press(strong)
    assert not opened.find_elements(By.CSS_SELECTOR, "tr.detail")


@needs_chromium
def test_rows_come_on_pages_and_links_lead_to_them(opened, audit):
    shown = "return [...document.querySelectorAll('tr[data-number]')].filter(r => r.offsetParent !== null).length"
    assert run(opened, shown) == 50
    assert run(opened, "return document.getElementById('page').textContent") == f"1 to 50 of {N}"
    run(opened, "document.getElementById('next').click()")
    assert run(opened, shown) == N - 50
    assert run(opened, "return document.getElementById('next').disabled")
    run(opened, "location.hash = '#row=' + encodeURIComponent('p3<b>')")
    opened.implicitly_wait(1)
    assert run(opened, "return document.querySelector('tr.detail h3').textContent") == "p3<b>"
    assert run(opened, "return document.activeElement.textContent") == "p3<b>"


@needs_chromium
def test_no_column_vanishes_and_nothing_is_cut_off(opened):
    cells = "[...document.querySelector('tr[data-number]').cells]"
    assert run(opened, f"return {cells}.every(cell => cell.getBoundingClientRect().width > 0)")
    if run(opened, "return innerWidth") < 500:
        assert run(opened, f"return {cells}.every(cell => cell.getBoundingClientRect().right <= innerWidth)")


@needs_chromium
def test_the_page_is_dark_where_the_reader_wants_it(chromium, page):
    brightness = "return getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number)"
    for mode, dark in (("dark", True), ("light", False)):
        features = [{"name": "prefers-color-scheme", "value": mode}]
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        browsers.open_page(chromium, page, 1280)
        assert (max(run(chromium, brightness)[:3]) < 60) == dark


@needs_chromium
def test_the_first_row_is_few_tabs_away(chromium, page):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browsers.open_page(chromium, page, 1280)
    chromium.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB, Keys.ENTER, Keys.TAB)
    assert run(chromium, "return document.activeElement.closest('tr').rowIndex") == 1
