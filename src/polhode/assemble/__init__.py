"""Where the parts meet: compile, simulate, compare."""

from polhode.assemble.compare import Comparison as Comparison, Row as Row, compare as compare
from polhode.assemble.single import (
    NORMS as NORMS,
    Motion as Motion,
    SingleBody as SingleBody,
    motion as motion,
    reference as reference,
)
from polhode.assemble.system import System as System, compile as compile
