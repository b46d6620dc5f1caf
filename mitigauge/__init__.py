"""What the service knows: experiments, hosts, statistics and reports."""
