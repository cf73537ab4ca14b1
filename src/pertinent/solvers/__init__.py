"""The one problem: the nearest point of a region, in weighted L1, for many centers at once."""

from pertinent.setting.options import Options
from pertinent.solvers.problem import Method, Projections, Solved, Task
from pertinent.solvers.select import choose_method
from pertinent.solvers.union import project

__all__ = ["Method", "Options", "Projections", "Solved", "Task", "choose_method", "project"]
