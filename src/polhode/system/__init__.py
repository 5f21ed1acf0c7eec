"""`System`: the quantities of a model as calls on arrays.

system               `ph.compile`; `methods/`: its methods by subject; `calls` checks their arguments
catalogue/           every quantity, one record each (`quantity`); `records`: results of several parts
algorithms           which algorithm computes a quantity, and its graph
constrained_model    the constrained dynamics of a model; `function_constraints` tries user functions
number_inputs        the numbers of a model as inputs of kernels; `tree_kernel`: kernels that take them;
                     `parameter_call`: calls with `parameters=`
identity             the text by which a model is known on disk; `shared`: Systems that are made once
mass_matrix_check    a model whose mass matrix cannot be inverted is refused
"""
