"""Many runs of one model at once, one in each SIMD lane, and their records."""
