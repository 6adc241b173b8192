export { type AppendFault, type FaultOf } from './append-faults.ts';
export { type EventStoreOptions, type EventStoreServer, startEventStore } from './server.ts';
