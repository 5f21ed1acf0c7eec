"""Runs: options in, Dataset out; one run, many side by side, their derivatives.

The flow of one run, `ph.simulate(model, …)`:

    simulate.py        the public door; keywords become RunOptions
    option_table.py    every option: default, help, command-line form;  run_options.py checks them
    scenario.py        the run as asked for: model, start, inputs, options;  step_times/ cuts its time
    companion.py       the second run that tells its error;  step_times/companion_steps.py cuts its time
    extinguished.py    what both of them damp although it lasts
    switching.py       where user functions bend, jump or depend on time, from graphs;  step_times/ solves for times
    run.py             Run: a scenario, its stepper, samples, grade, Dataset
    stepper.py         what a stepper is:  run_loop.py (our methods), sundials_run.py, by_form/ (published forms)
    driven_model.py    a model under its inputs (inputs.py): force law, constrained dynamics
    compiled_run.py    the steps as one kernel, traced from machine.py and integrate/
    step_state.py      the state between steps on generic scalars, and how it advances
    within_steps/      the motion within steps: samples between them, looks for singular positions
    events/            where in a step an event lies; events of force elements
    observer.py        poses, energies, momenta at samples

`simulator` (simulator.py) keeps a model ready for many runs, or for one step at a time;
`record` (recording.py) follows the same run to disk with checkpoints; batch/ follows many
runs at once, one in each SIMD lane; derivatives/ replays the steps of a run, forward or backward.
"""
