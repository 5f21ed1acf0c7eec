"""The speed page: the same quantities of the same machines, ours and others', timed side by side."""
