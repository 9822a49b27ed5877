"""The pages for those who run the server: address, mail, seal, clock."""
