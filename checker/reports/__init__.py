"""What a check has found, for people: text, JSON and a web page."""
