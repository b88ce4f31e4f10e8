"""What is kept in files, and how."""
