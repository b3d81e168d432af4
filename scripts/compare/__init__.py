"""What the comparisons with POT are made of; the scripts one folder up run them."""
