"""Rest, steady motion and small motions about it: equilibria, relative equilibria, linear equations, modes."""
