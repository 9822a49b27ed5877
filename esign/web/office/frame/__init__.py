"""What every page of the office shares: dispatch, the request, forms, messages, paging and dates."""
