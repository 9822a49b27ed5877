"""What operators of the server need: health, setup checks, seal certificates, the clock."""
