"""The one problem: the nearest point of a region, in weighted L1, for many centers at once."""

from pertinent.projection.problem import Method, Options, Projections, Solved, Task
from pertinent.projection.select import choose_method
from pertinent.projection.union import project

__all__ = ["Method", "Options", "Projections", "Solved", "Task", "choose_method", "project"]
