export { type EventStoreOptions, type EventStoreServer, startEventStore } from './server.ts';
