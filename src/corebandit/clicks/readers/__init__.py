"""Click logs from files of several formats, and to files."""
