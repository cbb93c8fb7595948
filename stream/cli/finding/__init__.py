"""Finding one record on its way: by its input position or its custom_id."""
