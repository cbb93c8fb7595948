"""The configuration: one TOML file, checked whole."""
