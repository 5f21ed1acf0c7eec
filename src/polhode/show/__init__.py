"""Pictures: what a result looks like."""
