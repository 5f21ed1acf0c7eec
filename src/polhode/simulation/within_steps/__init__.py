"""The motion within steps: polynomials between samples, rows of steps, looks for singular positions."""
