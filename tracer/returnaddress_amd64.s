#include "textflag.h"

// func returnAddress() uintptr
//
// A Go function with a frame keeps the frame pointer of its caller at 0(BP), and its own return address above it.
TEXT ·returnAddress(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ 8(BP), AX
	MOVQ AX, ret+0(FP)
	RET
