"""What people touch: the command line, the plots over sample sizes, and the page."""
