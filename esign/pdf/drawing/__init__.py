"""Drawing of what is added to pages and behind them: field values, signatures and the certificate page."""
