"""Linear algebra on generic scalars: factorisation, elimination, constrained least squares of any rank."""
