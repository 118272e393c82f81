"""The user interfaces: command line, plots, reports and the web page."""
