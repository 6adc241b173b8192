export { type Access } from './access.ts';
export { type AppendFault, type FaultOf } from './append-faults.ts';
export { type FaultCase, faultCases, plannedFaults } from './fault-plans.ts';
export { type EventStoreOptions, type EventStoreServer, startEventStore } from './server.ts';
