"""The web page of a check, in a real browser.

The model's shortest violation is worked out by hand: a request, the row is written, the server crashes and restarts;
then nothing will ever bring the job to the queue.  Two steps may be one: a crash during the push.  With `crash mq` as
the only fault the message queue goes down during the push, and restarts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from tests.browser import CHROMIUM, Visit, browser
from tests.command import counterpoint

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")

MODEL = """\
/// Jobs that are written down before they are queued.
enum State { PENDING, DONE }
ids Job[1]
store db { durable job: Job -> State? }
store mq { durable queue jobs: Job }
process Server {
  on submit(j: fresh Job) { db.job[j] := PENDING; mq.jobs.push(j) }
  loop work { let j = mq.jobs.take(); db.job[j] := DONE; mq.jobs.ack(j) }
}
faults { crash Server, mq }
at rest none_forgotten: forall j: Job. db.job[j] != PENDING
cover done: exists j: Job. db.job[j] == DONE
variant plain { }
"""
LONG = "a" * 200
HOSTILE = f"""\
/// <script>alert(1)</script> "quoted" 'single' & </style></title>
enum State {{ PENDING, DONE }}
ids Job[1]
store {LONG} {{ durable job: Job -> State? }}
process Server {{
  on submit(j: fresh Job) {{
    step "</script><img src=x onerror=alert(2)> \u202eright to left \u05d0\u05d1 {LONG}" {{ {LONG}.job[j] := PENDING }}
  }}
}}
invariant never: forall j: Job. {LONG}.job[j] != PENDING
"""


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the model, with its fault sets."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "jobs.cpt").write_text(MODEL.replace("variant plain { }", "variant plain { }\nvariant again { }"))
    (folder / "fine.cpt").write_text(
        "store db { durable x: bool }\ninvariant unset: not db.x\nprocess P { task t { db.x := false } }\n"
    )
    done = counterpoint("check", ".", "--needs", "--html", "page.html", folder=folder)
    assert done.returncode == 1, done.stderr
    assert "none_forgotten" in done.stdout, "a file does not mute the terminal"
    return folder / "page.html"


@pytest.fixture
def visit(running: Browser, file: Path) -> Iterator[Visit]:
    found = Visit(running, file)
    yield found
    assert not found.complaints
    assert found.requests == [found.address]
    found.page.close()


def open_jobs(visit: Visit) -> None:
    visit.page.get_by_role("link", name="jobs.cpt", exact=True).click()


def test_the_page_opens_on_a_violation(visit: Visit) -> None:
    open_jobs(visit)
    assert visit.text(".cp-count") == "4 of 4"
    assert visit.text(".cp-truths .cp-subject .cp-truth") == "false"
    assert visit.page.locator(".cp-figure svg:visible").count() == 1


def test_stepping_with_keys(visit: Visit) -> None:
    open_jobs(visit)
    visit.press("Home")
    assert visit.text(".cp-count") == "0 of 4"
    assert visit.text(".cp-now") == "the initial state"
    row = visit.page.locator("tr[data-lane=db]:visible", has_text="job[Job#0]")
    assert row.locator(".cp-value").inner_text() == "none"
    visit.press("ArrowRight", "ArrowRight")
    assert visit.text(".cp-count") == "2 of 4"
    assert "Server[0].submit: db.job[j] := PENDING" in visit.text(".cp-now")
    assert row.locator(".cp-value").inner_text() == "PENDING"
    assert "cp-changed" in (row.get_attribute("class") or "")
    assert visit.page.locator(".cp-line-now:visible").get_attribute("value") == "7"
    visit.press("ArrowRight")
    assert "cp-changed" not in (row.get_attribute("class") or "")
    assert "mq crashes" in visit.text(".cp-now")
    visit.press("End", "ArrowRight")
    assert visit.text(".cp-count") == "4 of 4"
    visit.press("ArrowLeft")
    assert visit.text(".cp-count") == "3 of 4"


def test_stepping_with_buttons_slider_and_diagram(visit: Visit) -> None:
    open_jobs(visit)
    visit.page.get_by_role("button", name="First state").locator("visible=true").click()
    visit.page.get_by_role("button", name="Step forward").locator("visible=true").click()
    assert visit.text(".cp-count") == "1 of 4"
    visit.page.locator(".cp-slider:visible").fill("3")
    assert visit.text(".cp-count") == "3 of 4"
    visit.page.locator(".cp-figure:visible g[id$=step-2] text").first.click()
    assert visit.text(".cp-count") == "2 of 4"
    assert visit.page.locator(".cp-figure:visible g[id$=step-3]").get_attribute("class") == "step cp-future"


def test_tabs_and_links_show_the_fault_sets(visit: Visit) -> None:
    open_jobs(visit)
    tabs = visit.page.get_by_role("tab").locator("visible=true")
    # Two fault sets break it, and a cover is reached; in each of two variants.
    assert tabs.count() == 6
    visit.page.get_by_role("tab", name="{crash Server}").first.click()
    assert "Server[0]" in visit.text(".cp-figure")
    assert re.search(r"REFUTED\W+4 steps, 1 fault: crash Server", visit.text(".cp-figure"))
    visit.press("ArrowRight")
    assert visit.page.get_by_role("tab", selected=True).inner_text().split()[-1] == "done"
    visit.press("ArrowLeft")
    assert "crash Server" in visit.page.get_by_role("tab", selected=True).inner_text()
    visit.page.locator(".cp-grid:visible a", has_text="REFUTED").first.click()
    assert "crash Server" in visit.page.get_by_role("tab", selected=True).inner_text()


def test_dangerous_steps_lead_to_their_runs(running: Browser, tmp_path: Path) -> None:
    """A job is forgotten when the server crashes after the row and before the push, or when the push is lost."""
    (tmp_path / "jobs.cpt").write_text(MODEL)
    done = counterpoint("check", "jobs.cpt", "--crash-points", "--html", "page.html", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "which step is dangerous" in done.stdout
    visit = Visit(running, tmp_path / "page.html")
    row = visit.page.locator(".cp-grid tr", has_text="mq.jobs.push(j)").first
    told = dict(
        zip(visit.page.locator(".cp-grid thead th").all_inner_texts(), row.locator("th,td").all(), strict=False)
    )
    words = {moment: cell.inner_text().split()[-1] for moment, cell in told.items() if moment != "step"}
    assert words == {
        "crash before": "refuted",
        "crash after": "proved",
        "reply lost": "proved",
        "request lost": "refuted",
        "twice": "declared",
    }
    told["crash before"].locator("a").click()
    assert "crash Server" in visit.text(".cp-figure")
    assert not visit.complaints
    visit.page.close()


def test_filters(visit: Visit) -> None:
    open_jobs(visit)
    rows = visit.page.locator(".cp-state tr[data-lane]:visible")
    everything = rows.count()
    visit.page.locator(".cp-lane:visible").select_option("mq")
    assert {row.get_attribute("data-lane") for row in rows.all()} == {"mq"}
    assert visit.page.locator(".cp-figure:visible g.cp-aside").count() > 0
    visit.page.locator(".cp-lane:visible").select_option("")
    visit.page.locator(".cp-find:visible").fill("JOB[")
    assert [row.locator("th").inner_text() for row in rows.all()] == ["db job[Job#0]"]
    visit.page.locator(".cp-find:visible").fill("")
    assert rows.count() == everything


def test_deep_links(running: Browser, file: Path, visit: Visit) -> None:
    open_jobs(visit)
    visit.page.get_by_role("tab", name="{crash Server}").last.click()
    visit.page.locator("h2:visible").click()
    visit.press("Home", "ArrowRight")
    fragment = visit.page.evaluate("location.hash")
    assert "again" in fragment
    other = Visit(running, file, fragment)
    assert other.text(".cp-count") == "1 of 4"
    assert (
        other.page.get_by_role("tab", selected=True).inner_text()
        == visit.page.get_by_role("tab", selected=True).inner_text()
    )
    other.page.evaluate("location.hash = '#m1-fine.cpt'")
    other.page.wait_for_selector("h2:visible >> text=fine.cpt")
    other.page.evaluate("location.hash = '#nothing/step-99'")
    assert not other.complaints
    other.page.close()


def test_the_models_own_text_is_reached_from_a_verdict(visit: Visit) -> None:
    open_jobs(visit)
    visit.page.locator(".cp-verdicts:visible a[data-line]", has_text="none_forgotten").first.click()
    assert visit.page.evaluate("document.activeElement.getAttribute('value')") == "11"


def test_it_is_accessible(visit: Visit) -> None:
    open_jobs(visit)
    for _ in range(2):
        found = Axe().run(visit.page)
        serious = [rule for rule in found.response["violations"] if rule["impact"] in ("serious", "critical")]
        assert not serious, [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in serious]
        visit.press("Home")


def test_nothing_is_wider_than_a_small_screen(running: Browser, file: Path) -> None:
    visit = Visit(running, file, width=390)
    open_jobs(visit)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
    visit.page.close()


def test_hostile_names_do_no_harm(running: Browser, tmp_path: Path) -> None:
    name = "<img src=x onerror=alert(3)>'\".cpt"
    (tmp_path / name).write_text(HOSTILE)
    done = counterpoint("check", name, "--html", "page.html", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    visit = Visit(running, tmp_path / "page.html")
    visit.page.wait_for_timeout(100)
    assert not visit.complaints
    assert visit.requests == [visit.address]
    assert visit.text("h2") == name
    assert visit.page.locator("img").count() == 0
    assert visit.page.locator("script").count() == 2
    assert "onerror=alert(2)" in visit.text(".cp-now")
    assert "\u202e" not in visit.page.content()
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 1440
    visit.page.close()


def test_without_a_script_everything_can_be_read(running: Browser, file: Path) -> None:
    context = running.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.locator("h2:visible").count() == 2
    assert page.locator(".cp-figure svg:visible").count() == 6
    context.close()


def test_the_same_check_gives_the_same_page(file: Path) -> None:
    folder = file.parent
    counterpoint("check", ".", "--needs", "--html", "twin.html", folder=folder)
    assert (folder / "twin.html").read_bytes() == file.read_bytes()
    assert str(folder) not in file.read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "jobs.cpt").write_text(MODEL)
    done = counterpoint("check", "jobs.cpt", "--html", "no/such/folder.html", folder=tmp_path)
    assert done.returncode == 2
    assert "no/such/folder.html cannot be written" in done.stderr
