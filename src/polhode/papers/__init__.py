"""What exists for the papers alone: the chain of Zoric, all forms side by side."""
