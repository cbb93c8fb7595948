"""Structured output: what is asked for, whether it can be compiled, whether an answer meets it."""
