"""What the emulated lab's figures are worth when its time counts instructions."""
