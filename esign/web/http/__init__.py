"""HTTP below any page or endpoint: connections, request checks, bodies, answers, rate limits, repeated requests."""
