"""Which faults it takes to break a property."""
