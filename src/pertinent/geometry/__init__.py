"""Sets of points: cells, regions, affine maps, allowed values. Imports nobody."""
