"""Results that were found before: a report is kept under a key of all that it depends on, and looked at again before it
is shown."""
