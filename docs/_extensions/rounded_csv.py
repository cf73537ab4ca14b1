"""The directive ``rounded-csv``: a CSV file as a table for readers, numbers with three digits."""

import csv
import io

from sphinx.directives.patches import CSVTable


def rounded(cell):
    """Return a number with three significant digits, and anything else as words."""
    try:
        number = float(cell)
    except ValueError:
        return cell.replace("_", " ")
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


class RoundedCSV(CSVTable):
    """A csv-table whose cells are made readable."""

    def get_csv_data(self):
        """Return the lines of the file, rounded."""
        lines, source = super().get_csv_data()
        out = io.StringIO()
        csv.writer(out).writerows([rounded(cell) for cell in row] for row in csv.reader(lines))
        return out.getvalue().splitlines(), source


def setup(app):
    """Register the directive."""
    app.add_directive("rounded-csv", RoundedCSV)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
