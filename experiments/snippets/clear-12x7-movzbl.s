# Clearing of the branch history, 12 x 7 passes, counters in %ecx and %eax that are read from bytes
# of memory, as where the kernel keeps them in variables. They lie below what the 13 calls write.
	lea -128(%rsp), %rdx
	movb $12, (%rdx)
	movb $7, 1(%rdx)
	movzbl (%rdx), %ecx
	call 1f
	jmp 5f
	.balign 64, 0xcc
1:	call 2f
	ret
	.balign 64, 0xcc
2:	movzbl 1(%rdx), %eax
3:	jmp 4f
	nop
4:	sub $1, %eax
	jnz 3b
	sub $1, %ecx
	jnz 1b
	ret
5:	lfence
