"""Formulas as MathML, which browsers show by themselves: no script, no network."""

from docutils import nodes
from latex2mathml.converter import convert


def _inline(translator, node):
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _block(translator, node):
    translator.body.append(f"<p>{convert(node.astext(), display='block')}</p>")
    raise nodes.SkipNode


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer("native", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
