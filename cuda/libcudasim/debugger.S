//go:build cuda && cgo

#include "export.h"

// A debugger reads these in a process with a driver. All zeros: none is attached, and none can be.

DEBUGGER(cudbgApiAttach)
DEBUGGER(cudbgApiDetach)
DEBUGGER(cudbgApiInit)
DEBUGGER(cudbgGetAPI)
DEBUGGER(cudbgGetAPIVersion)
DEBUGGER(cudbgMain)
DEBUGGER(cudbgReportDriverApiError)
DEBUGGER(cudbgReportDriverInternalError)

DEBUGGER_DATA(cudbgApiClientPid, 4)
DEBUGGER_DATA(cudbgApiClientRevision, 4)
DEBUGGER_DATA(cudbgAttachHandlerAvailable, 4)
DEBUGGER_DATA(cudbgDebuggerCapabilities, 4)
DEBUGGER_DATA(cudbgDebuggerInitialized, 4)
DEBUGGER_DATA(cudbgDetachSuspendedDevicesMask, 4)
DEBUGGER_DATA(cudbgEnableIntegratedMemcheck, 4)
DEBUGGER_DATA(cudbgEnableLaunchBlocking, 4)
DEBUGGER_DATA(cudbgEnablePreemptionDebugging, 4)
DEBUGGER_DATA(cudbgInjectionPath, 4096)
DEBUGGER_DATA(cudbgIpcFlag, 4)
DEBUGGER_DATA(cudbgReportDriverApiErrorFlags, 4)
DEBUGGER_DATA(cudbgReportedDriverApiErrorCode, 8)
DEBUGGER_DATA(cudbgReportedDriverApiErrorFuncNameAddr, 8)
DEBUGGER_DATA(cudbgReportedDriverApiErrorFuncNameSize, 8)
DEBUGGER_DATA(cudbgReportedDriverInternalErrorCode, 8)
DEBUGGER_DATA(cudbgResumeForAttachDetach, 4)
DEBUGGER_DATA(cudbgRpcEnabled, 4)
DEBUGGER_DATA(cudbgSessionId, 4)
DEBUGGER_DATA(cudbgUseExternalDebugger, 4)
