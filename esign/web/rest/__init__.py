"""What every endpoint of the API shares: the order of checks, keys, its description."""

V1 = "/api/v1"
