"""The store and its pages, with thousands of cases and millions of values."""
