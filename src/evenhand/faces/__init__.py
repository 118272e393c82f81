"""What people touch: the command line, and later the report, the plots and the page."""
