"""Work items: what is to be checked, one piece at a time, and who performs the pieces, where."""
