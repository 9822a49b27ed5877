"""The pages for owners of the server: address, mail, seal, clock, and the list of sent mails."""
