"""What a good developer writes instead: DRF views of fixed columns that call the Web API with requests."""
