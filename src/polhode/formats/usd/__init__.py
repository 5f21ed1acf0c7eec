"""USD (OpenUSD 22.05 and later) with UsdPhysics: text and binary files, read by Pixar's own library.

reader         the model: bodies, gravity, the tree of joints
stage          prims as values; the process that reads the file
stage_reader   that process: the one module that imports Pixar's library
masses         mass, centre and inertia of bodies, by their numbers or by their collision shapes
joints         joints as ours, and those that close a loop as constraints
shapes         what bodies look like
"""
