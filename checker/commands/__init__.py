"""One module for each subcommand: `run(arguments, console)` does it and answers the exit code."""
