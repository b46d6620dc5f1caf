# Clearing of the branch history, 84 jumps one behind the other: no counter and no call.
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	jmp 1f
	nop
1:
	jmp 2f
	nop
2:
	lfence
