"""The commands after their options are parsed: each reads, calls the library and writes."""
