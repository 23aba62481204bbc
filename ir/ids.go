package ir

import "strconv"

// OpID names an operation: its position in program order. Printed %3.
type OpID int32

// BufferID names a buffer. A buffer prints as its name, @x.
type BufferID int32

// ModuleID names a PTX module of the graph.
type ModuleID int32

// ParamID names a replay parameter. A parameter prints as its name, $alpha.
type ParamID int32

// LaneID names a lane of a schedule: a FIFO that becomes one stream.
type LaneID int32

func (id OpID) String() string { return "%" + strconv.Itoa(int(id)) }
