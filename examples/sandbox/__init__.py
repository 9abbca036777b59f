"""A whole world on loopback: GitHub and EC2 as far as the actions use them."""
