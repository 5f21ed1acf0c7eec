"""`System`: the quantities of a model as calls on arrays."""
