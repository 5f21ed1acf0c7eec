"""Many runs of one model.

sweep             `ph.sweep`: a study run here or on a cluster (`cluster`), on a processor or a GPU (`devices`, `gpu`);
                  `sweep_options` and `option_table`: what it can be asked; `progress`: what it reports
study             what is run, a value; `study_file` reads one from YAML, `check_names` refuses names, `work` counts
study_runner      a study made ready: any of its runs by number
parameters        which numbers a study can name; `parameter_values` draws them (`distributions`, `design`)
user_functions    outputs, stops and forces of a study, from expressions and user functions
measures          single numbers of each run, and its verdict
in_memory, store  the runs as a Dataset: in memory; on disk (`seal`: digests, `zarr_layout`, `zarr_reader`, `verify`)
summary           means, quantiles and failures of all runs
"""
