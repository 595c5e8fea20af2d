"""A challenge as code: `challenge.yaml` and its files -> definition -> plan -> apply; export is the inverse."""
