"""Every Python block of the README and the documentation runs, and prints what is printed there."""

import re
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts and "auto_examples" not in page.parts]
#: A block, and the text block that directly follows it, if any.
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n^```text\n(.*?)^```\n)?", re.M | re.S)


def blocks(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def test_the_pages_are_there():
    assert {"quickstart.md", "ideas.md", "certificates.md", "comparison.md"} <= {
        page.name for page in PAGES
    }


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda page: page.stem)
def test_blocks_run_and_print_what_is_shown(page, tmp_path, monkeypatch, capsys):
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)  # some save files
    names = {"__name__": "__main__"}
    for code, expected in blocks(page):
        exec(compile(code, str(page), "exec"), names)
        printed = capsys.readouterr().out
        if expected:
            assert printed.split() == expected.split(), printed
    plt.close("all")


def test_images_exist():
    for page in PAGES:
        for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).is_file(), (page, target)
