"""What everything agrees on: recipes, states, arguments and errors, features, files."""
