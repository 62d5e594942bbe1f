"""Where durable agents are kept."""
