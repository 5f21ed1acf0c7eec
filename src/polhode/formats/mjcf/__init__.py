"""MJCF files.

reader             the model
cleaned_text       what MuJoCo's parser gets; `spec`: that parser
equality           equality constraints
inertia_of_geoms   masses and inertias of shapes
"""
