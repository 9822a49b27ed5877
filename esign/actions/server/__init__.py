"""What those who run the server look after: health, checks, certificates, the clock."""
