"""Write the CSV files of ``pertinent.datasets`` from the R package modeldata.

The files are committed, so this is needed only to check where they come from:

    pip install rdata pandas
    git clone https://github.com/tidymodels/modeldata
    python -m experiments.convert_data modeldata src/pertinent/datasets/data

Columns are selected, renamed and reordered, and four category names are spelled out. No row is
dropped and no number is changed; a missing value becomes an empty field.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

AMES = {
    # The nine features of the paper, in its order.
    "Total_Bsmt_SF": "basement_area",
    "First_Flr_SF": "first_floor_area",
    "Second_Flr_SF": "second_floor_area",
    "Gr_Liv_Area": "living_area",
    "Wood_Deck_SF": "deck_area",
    "Open_Porch_SF": "open_porch_area",
    "Three_season_porch": "three_season_porch_area",
    "Screen_Porch": "screen_porch_area",
    "Pool_Area": "pool_area",
    # A few more that a reader knows without a dictionary.
    "Lot_Area": "lot_area",
    "Year_Built": "year_built",
    "Garage_Area": "garage_area",
    "Bedroom_AbvGr": "bedrooms",
    "Full_Bath": "full_baths",
    "Half_Bath": "half_baths",
    "Fireplaces": "fireplaces",
    "Sale_Price": "sale_price",
}

CREDIT = {
    "Seniority": "seniority",
    "Home": "home",
    "Time": "time",
    "Age": "age",
    "Marital": "marital",
    "Records": "records",
    "Job": "job",
    "Expenses": "expenses",
    "Income": "income",
    "Assets": "assets",
    "Debt": "debt",
    "Amount": "amount",
    "Price": "price",
    "Status": "status",
}

SPELLED_OUT = {
    "Home": {"priv": "private"},
    "Marital": {"widow": "widowed"},
    "Job": {"partime": "part-time", "others": "other"},
}


def read(path: Path, name: str) -> Any:
    """Return the data frame `name` stored in the R data file `path`."""
    import rdata

    return rdata.read_rda(path)[name]


def write(table: Any, names: dict[str, str], path: Path) -> None:
    """Write the columns `names` of `table`, renamed, as a CSV file."""
    table = table[list(names)].rename(columns=names)
    whole = {column: "Int64" for column in table.select_dtypes("number")}
    table.astype(whole).to_csv(path, index=False, lineterminator="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modeldata", type=Path, help="a checkout of the R package modeldata")
    parser.add_argument("output", type=Path, help="the folder that receives the CSV files")
    args = parser.parse_args()

    write(read(args.modeldata / "data/ames.rda", "ames"), AMES, args.output / "ames.csv")

    credit = read(args.modeldata / "data/credit_data.RData", "credit_data")
    for column, spelling in SPELLED_OUT.items():
        credit[column] = credit[column].astype(object).replace(spelling)
    write(credit, CREDIT, args.output / "credit.csv")


if __name__ == "__main__":
    main()
