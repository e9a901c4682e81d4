"""Values: inputs and bindings on their way in, columns and outputs on their way out."""
