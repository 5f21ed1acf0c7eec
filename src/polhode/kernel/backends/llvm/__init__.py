"""Machine code of this processor, by LLVM: text (`function_text`, `parts`, `routine_functions`, `module`), compiled and
linked (`compile`), called with little overhead (`cpython_call`), in place (`in_place`), in threads (`threads`).
"""
