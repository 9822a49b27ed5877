"""HTTP below any page or endpoint: connections, guards, bodies, answers, rate limits."""
