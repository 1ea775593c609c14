"""Results as files for the tools around a code host: JUnit, SARIF, Markdown, annotations, a stream of events."""
