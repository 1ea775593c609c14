"""Which engines run, in which order and process, and what they have decided."""
