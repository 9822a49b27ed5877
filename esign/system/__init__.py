"""What the program needs from the machine: time, randomness, keys, passwords, logs, memory, disk and name lookup."""
