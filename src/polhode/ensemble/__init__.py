"""Many runs of one model.

sweep             `ph.sweep`: a study run here or on a cluster (`cluster`), on a processor or a GPU (`devices`, `gpu`);
                  `sweep_options`, `study_options` and `option_table`: what it can be asked; `progress`: what it reports
study             what is run, a value; `study_file` reads one from YAML, `check_names` refuses names, `work` counts
study_runner      a study made ready: any of its runs by number
parameters        which numbers a study can name; `parameter_values` draws them (`distributions`, `design`)
user_functions    outputs, stops and forces of a study, from expressions and user functions
measures          single numbers of each run, and its verdict; `companions` estimate the errors of some
in_memory         the runs as a Dataset in memory; `on_disk`: as a store of Zarr arrays, sealed by digests
summary           means, quantiles and failures of all runs
"""
