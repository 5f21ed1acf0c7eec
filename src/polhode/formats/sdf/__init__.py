"""SDF (SDFormat 1.3 to 1.12): worlds and models of Gazebo and Drake.

reader     the model
frames     models inside models, included files, and the graph of frames: which pose is relative to which
joints     joints as ours, and those that close a loop as constraints
values     texts of elements as numbers, flags and poses
shapes     what links look like
"""
