export { type Access } from './access.ts';
export { type EventStoreOptions, type EventStoreServer, startEventStore } from './server.ts';
