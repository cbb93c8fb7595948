"""What a line must hold beyond the types of its fields."""
