"""Many runs: what they are drawn from, how they are run, where they are kept."""
