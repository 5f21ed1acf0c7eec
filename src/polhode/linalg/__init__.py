"""Linear algebra on generic scalars: factorisation, elimination, constrained least squares of any rank.

constrained   min (a − a₀)ᵀ M (a − a₀) with A a = b; `augmented`, `null_space`: the same by other ways of solution
orthogonal    rows made orthogonal, with pivoting; `sparse`: those with many structural zeros
elimination   with complete pivoting; `triangular`: M = K Kᵀ
rank          by singular values, on arrays of floats; `blas_threads`: by one thread
"""
