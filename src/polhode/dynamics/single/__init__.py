"""One rigid body: every published form of its rotational equations of motion."""

from polhode.dynamics.single.acceleration import Acceleration as Acceleration, acceleration as acceleration
from polhode.dynamics.single.forms import Form as Form, Problem as Problem, forms as forms
from polhode.dynamics.single.loads import Loads as Loads
