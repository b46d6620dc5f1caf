# Clearing of the branch history, 12 x 7 passes, counters in %al and %ah.
	mov $12, %al
	call 1f
	jmp 5f
	.balign 64, 0xcc
1:	call 2f
	ret
	.balign 64, 0xcc
2:	mov $7, %ah
3:	jmp 4f
	nop
4:	sub $1, %ah
	jnz 3b
	sub $1, %al
	jnz 1b
	ret
5:	lfence
