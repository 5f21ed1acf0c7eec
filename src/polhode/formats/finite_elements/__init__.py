"""Matrices of finite elements from files: NumPy, Matrix Market, CalculiX, Nastran."""
