"""What start and stop were asked to do: inputs, checked, as frozen values."""
