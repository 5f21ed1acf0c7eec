"""Which variants of long families of tests run every day; `make test-all` runs every one of them.

A family is a test with many parameters of one kind: methods, joints, machines, pictures. One variant in so many is
enough to see that a change broke it; all of them are a campaign.
"""

FAMILIES = {
    "check/test_diagnosis.py::test_a_body_without_inertia_moves_where_constraints_determine_it": 2,
    "check/test_diagnosis.py::test_a_constraint_said_twice_is_redundant_by_both_names": 3,
    "check/test_diagnosis.py::test_a_motion_does_not_depend_on_units": 4,
    "check/test_diagnosis.py::test_the_rank_does_not_depend_on_units": 3,
    "check/test_initial_state.py::test_an_axis_of_six_digits_assembles_with_the_tolerance_that_is_named": 4,
    "cli/test_cli.py::test_mistakes_end_with_a_message_not_a_traceback": 2,
    "cli/test_run.py::test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_room": 2,
    "constrain/test_constrained_dynamics.py::test_engines_agree_in_accelerations_and_in_the_force_of_constraints": 6,
    "constrain/test_constrained_dynamics_motion.py::test_a_bundled_model_starts_where_its_constraints_hold_and_runs": 2,
    "constrain/test_constrained_dynamics_motion.py::test_energy_and_conditions_stay": 3,
    "constrain/test_reactions.py::test_reactions_have_the_power_of_their_multipliers": 3,
    "dynamics/test_constraints.py::test_A_is_the_derivative_of_phi_along_the_velocities": 3,
    "dynamics/test_constraints_loops.py::test_a_run_of_the_cut_machine_is_that_of_the_tree": 6,
    "dynamics/test_constraints_loops.py::test_accelerations_are_those_of_the_tree": 6,
    "dynamics/test_constraints_loops.py::test_projected_velocities_are_the_nearest_of_the_tree": 6,
    "dynamics/test_constraints_loops.py::test_the_force_of_the_constraint_is_what_the_motion_needs": 6,
    "dynamics/test_loops.py::test_loops_compute_what_written_out_operations_do": 3,
    "dynamics/test_sweeps.py::test_both_ways_give_one_motion": 3,
    "ensemble/on_disk/test_store_damage.py::test_hostile_json_is_told_and_mended": 3,
    "ensemble/on_disk/test_store_damage.py::test_signed_files_with_wrong_values_are_told": 3,
    "equations_of_motion/test_equations.py::test_forms_of_one_body_give_its_acceleration_and_multiplier": 3,
    "equations_of_motion/test_equations.py::test_formulas_of_bundled_machines_are_the_kernels": 3,
    "integrate/test_methods.py::test_a_method_has_its_order_on_a_free_body": 6,
    "integrate/test_methods.py::test_a_method_has_its_order_on_an_arm_with_every_kind_of_joint": 6,
    "integrate/test_methods.py::test_the_motion_within_a_step_has_the_order_of_the_method": 6,
    "kernel/test_c.py::test_the_physics_of_every_joint_computes_what_evaluate_says": 3,
    "kernel/test_cuda.py::test_nvidias_compiler_takes_the_physics": 2,
    "kernel/test_cuda.py::test_the_physics_of_every_joint_computes_what_evaluate_says": 4,
    "kernel/test_differentiate.py::test_fifty_thousand_operations_grow_by_a_small_factor": 3,
    "kernel/test_llvm.py::test_every_quantity_of_a_compiled_system_is_that_of_the_oracle": 6,
    "kernel/test_schedule.py::test_many_results_come_out_in_their_places": 3,
    "kernel/test_schedule.py::test_parts_compute_the_bits_of_the_whole": 3,
    "laws/test_integrators.py::test_a_step_is_the_same_on_floats_on_batches_and_compiled": 3,
    "laws/test_reframe.py::test_new_frames_cost_no_operations": 3,
    "model/test_constraints.py::test_the_reaction_does_the_work_of_the_multipliers": 3,
    "model/test_constraints.py::test_the_rows_are_the_derivative_of_the_rates": 3,
    "peers/test_mjcf.py::test_mesh_files_of_included_parts_are_those_that_mujoco_finds": 3,
    "peers/test_robots.py::test_every_public_robot_agrees": 12,
    "peers/test_urdf.py::test_links_are_where_pinocchio_has_them": 5,
    "peers/test_urdf.py::test_links_weigh_what_pinocchio_says": 5,
    "reference/test_constrained.py::test_A02_passes_its_singular_configuration": 4,
    "reference/test_exact.py::test_free_body_is_right_on_and_near_the_separatrix": 3,
    "reference/test_exact.py::test_heavy_top_is_right_at_and_near_the_vertical": 3,
    "reference/test_exact.py::test_pendulum_follows_its_equation": 2,
    "reference/test_integrators.py::test_the_tumble_of_a_free_body_is_met_to_the_tolerance": 3,
    "shape/test_equations.py::test_a_function_changed_by_a_millionth_fails_its_test": 4,
    "show/test_animation.py::test_a_page_moves_offline_with_everything_switched_on": 3,
    "show/test_cans.py::test_a_browser_opens_it_and_sets_the_names_where_they_were_planned": 2,
    "show/test_cans.py::test_every_arrow_turns_right_handed_about_its_axis": 3,
    "show/test_cans.py::test_it_looks_the_same_whatever_fonts_a_machine_has": 3,
    "show/test_cans.py::test_names_never_touch_and_never_leave_the_page": 3,
    "show/test_cans.py::test_parts_are_painted_over_what_they_stand_in_front_of": 3,
    "show/test_cans.py::test_visible_lines_are_those_that_rays_find_visible": 4,
    "show/test_report.py::test_the_page_of_a_run_draws_every_plot": 2,
    "simulation/test_absolute_model.py::test_states_go_there_and_back": 3,
    "simulation/test_compiled_run_methods.py::test_compiled_steps_are_those_on_plain_floats": 5,
    "simulation/test_recording.py::test_a_recorded_run_is_the_run_in_memory": 3,
    "simulation/test_recording.py::test_a_run_cut_off_at_any_block_goes_on_to_the_bit": 3,
    "simulation/test_sensitivity.py::test_sensitivities_are_the_derivatives_that_complex_steps_find": 3,
    "simulation/test_sensitivity.py::test_the_way_back_gives_what_the_way_forward_gives": 6,
    "simulation/test_tree_run_by_form.py::test_machines_by_a_form_converge_to_the_run_of_the_tree_at_order_four": 3,
}
"""A family, and one variant in how many runs every day."""


def campaigns(names):
    """The places, in a list of names of tests, of variants that only `make test-all` runs."""
    seen = dict.fromkeys(FAMILIES, 0)
    for place, name in enumerate(names):
        family = name.removeprefix("tests/").partition("[")[0]
        if family in FAMILIES:
            if seen[family] % FAMILIES[family]:
                yield place
            seen[family] += 1
