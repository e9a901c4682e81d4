"""What follows from an endpoint's definition: parameters, entities that it reaches, who may share answers."""
