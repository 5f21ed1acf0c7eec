"""The physics: pure functions on any scalar."""
