"""What `counterpoint explain` says about the codes of the type checker, by subject."""
