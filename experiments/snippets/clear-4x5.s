# Clearing of the branch history, 4 x 5 passes: fewer than the published sequence.
	mov $4, %ecx
	call 1f
	jmp 5f
	.balign 64, 0xcc
1:	call 2f
	ret
	.balign 64, 0xcc
2:	mov $5, %eax
3:	jmp 4f
	nop
4:	sub $1, %eax
	jnz 3b
	sub $1, %ecx
	jnz 1b
	ret
5:	lfence
