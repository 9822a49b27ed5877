"""What every page of the office shares: its request, its forms, its frame."""
