-- What drive.py reads: one line of JSON behind the report of wrk; times in milliseconds.
done = function(summary, latency, requests)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format('\n{"count": %d, "seconds": %.6f, "median": %.3f, "p99": %.3f, "failed": %d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, failed))
end
