"""Sphinx configuration: built offline, without warnings (`make docs`)."""

import os
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pertinent  # noqa: E402

project = "pertinent"
author = "The pertinent authors"
copyright = "The pertinent authors"
version = release = pertinent.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "native_math",
    "rounded_csv",
    "run_page",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_extensions", "_run", "images/README.md"]
run_pages = ["own_table"]  # the build runs them, and shows what they write
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "download_all_examples": False,
    "write_computation_times": False,  # its page would load scripts from a CDN
    "show_memory": False,
    "capture_repr": (),
    "show_signature": False,
    "plot_gallery": "True",
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = f"pertinent {version}"
html_static_path = ["_static"]
html_css_files = ["local.css"]
html_sidebars = {"*": []}  # pages without a section of their own
html_show_sourcelink = False
html_math_renderer = "native"
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
