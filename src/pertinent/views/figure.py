"""A matplotlib figure that a notebook shows once."""

from __future__ import annotations

from io import BytesIO

from matplotlib._pylab_helpers import Gcf
from matplotlib.figure import Figure


class SummaryFigure(Figure):
    """A figure of pyplot's, which a notebook shows by itself at the end of its cell.

    IPython would show it a second time as the value of the cell's last line.
    """

    def _ipython_display_(self) -> None:
        if any(open_.canvas.figure is self for open_ in Gcf.get_all_fig_managers()):
            return  # still open: shown at the end of the cell
        from IPython.display import Image, display

        picture = BytesIO()
        self.savefig(picture, format="png")
        display(Image(picture.getvalue()))
