"""Pages that run while the documentation is built: ``run_pages`` of `conf.py` lists them.

The python blocks of a page run in its order, in one namespace and in the folder
``_run/<page>``, which is emptied first. What they print must be what the text block below them
shows, and what they write (pictures, a report) can be shown and linked by the page. Anything else
is a warning, which ends a build with ``-W``.
"""

import contextlib
import io
import re
import shutil
import traceback
from pathlib import Path

from sphinx.util import logging

#: A python block, and the text block that directly follows it, if any.
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n^```text\n(.*?)^```\n)?", re.M | re.S)
log = logging.getLogger(__name__)


def run_page(source, folder):
    """Return what is wrong with a page, as a list of sentences; its files are in the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wrong, names = [], {"__name__": "__main__"}
    with contextlib.chdir(folder):
        for place, (code, shown) in enumerate(BLOCK.findall(source), start=1):
            out = io.StringIO()
            try:
                with contextlib.redirect_stdout(out):
                    exec(compile(code, f"block {place}", "exec"), names)
            except Exception:
                wrong.append(f"block {place} fails: {traceback.format_exc(limit=-1)}")
                break
            if shown and out.getvalue().split() != shown.split():
                wrong.append(f"block {place} prints something else: {out.getvalue()}")
    return wrong


def run_pages(app):
    """Run the pages of the configuration, and warn of what is not as shown."""
    import matplotlib.pyplot as plt

    for name in app.config.run_pages:
        page = Path(app.srcdir) / f"{name}.md"
        for said in run_page(page.read_text(encoding="utf-8"), Path(app.srcdir) / "_run" / name):
            log.warning("%s: %s", name, said)
        plt.close("all")


def setup(app):
    """Register what runs pages before they are read."""
    app.add_config_value("run_pages", [], "env", [list])
    app.connect("builder-inited", run_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
