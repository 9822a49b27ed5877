"""What is known of the installation as a whole."""
