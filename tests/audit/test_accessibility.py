"""The page of an audit put to axe-core in a real browser: at three widths, in light and dark, with a row opened."""

from importlib.resources import files

import browser as browsers
import pytest

from rescaleinv import scaling_audit, write_report
from rescaleinv.datasets import load

pytestmark = pytest.mark.skipif(
    browsers.CHROMIUM is None or browsers.DRIVER is None,
    reason="no chromium and chromedriver here: the page was not tried in a browser (apt-get install chromium-driver)",
)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    features, labels, _ = load("breast_cancer_wisconsin")
    audit = scaling_audit(
        features[:30], labels[:30], features[30:90], labels[30:90], class_names=("ill", "well"), most_radii=3
    )
    path = tmp_path_factory.mktemp("report") / "audit.html"
    write_report(audit, path, title="Audit of tumours")
    return path


@pytest.fixture(scope="module")
def chromium():
    with browsers.chromium() as browser:
        browser.set_script_timeout(60)
        yield browser


def grave_violations(browser):
    """What axe-core calls serious or critical: its rule, and the first places."""
    browser.execute_script((files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8"))
    found = browser.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    assert len(found["passes"]) > 10  # it did look
    return {
        one["id"]: [node["html"][:160] for node in one["nodes"][:3]]
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 768, 390])
def test_no_serious_violation(chromium, page, width, scheme):
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browsers.open_page(chromium, page, width)
    assert chromium.execute_script("return matchMedia(`(prefers-color-scheme: ${arguments[0]})`).matches", scheme)
    assert grave_violations(chromium) == {}
    chromium.execute_script("document.querySelectorAll('details').forEach(one => one.open = true)")
    chromium.execute_script("document.querySelector('tr[data-number] button').click()")
    assert chromium.execute_script("return document.querySelectorAll('tr.detail').length") == 1
    assert grave_violations(chromium) == {}


def test_a_planted_violation_is_noticed(chromium, page):
    browsers.open_page(chromium, page, 1280)
    chromium.execute_script("document.querySelector('main, body').append(document.createElement('button'))")
    chromium.execute_script("document.querySelector('h1').style.cssText = 'color: #ddd; background: #fff'")
    assert {"button-name", "color-contrast"} <= set(grave_violations(chromium))
