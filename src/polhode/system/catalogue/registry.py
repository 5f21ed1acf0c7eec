"""Every quantity by name: importing this module records those of all subjects."""

from polhode.system.catalogue import (
    centroidal as centroidal,
    configuration as configuration,
    constraints as constraints,
    dynamics as dynamics,
    kinematics as kinematics,
    regressors as regressors,
)
from polhode.system.catalogue.record import QUANTITIES as QUANTITIES
