"""Model files: text in, Model out.

load, registry       `ph.load`: the kinds of files, one row and one module each
yaml                 our own files: `document` and `fast_yaml` (YAML with lines), `expression` and
                     `expression_functions` (values as texts); `yaml_text` writes them
entries/             their keys and values, and the reader of files that are right; `schema`, `file_values` and
                     `yaml_faults` tell what is wrong in the others
beam_entries         beams, sections and materials of our own files; `modal_entries`: flexible bodies by modes
finite_elements/     matrices of such bodies: NumPy, Matrix Market, CalculiX, Nastran
urdf                 URDF; `visuals`: how its links look
sdf/                 SDF: the model, the graph of frames and included files, joints, shapes
usd/                 USD with UsdPhysics: the model, the process that reads the file, masses, joints, shapes
mjcf/                MJCF: the model, the cleaned text, MuJoCo's parser, equality constraints, inertias of shapes
directives           Drake's model directives: files of models put together
xml_guard, folders   XML and other files of a model as untrusted input
remarks, placement   what a loader reports; poses of frames
configurations       coordinates by name: group states of SRDF, keyframes of MJCF, starts of our own files
library, bicycle     bundled models
overrides            numbers of a model given on the command line
"""
