"""What is stored about the installation as a whole."""
