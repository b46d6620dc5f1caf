# Clearing of the branch history, 12 x 7 passes, the outer counter in %ah and counted down by %ax.
	mov $12, %ah
	call 1f
	jmp 5f
	.balign 64, 0xcc
1:	call 2f
	ret
	.balign 64, 0xcc
2:	mov $7, %al
3:	jmp 4f
	nop
4:	sub $1, %al
	jnz 3b
	sub $0x100, %ax
	jnz 1b
	ret
5:	lfence
