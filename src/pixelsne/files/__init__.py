"""Readers and writers of all file formats."""
