export { runAdminCommand } from './admin-command.ts';
export { readHistoryEntries } from './history-entry.ts';
export { messageFor, type MessageSubject } from './message.ts';
export { type Projection, startProjection } from './projection.ts';
export { rebuild } from './rebuild.ts';
export { startRelay } from './relay.ts';
export { verify } from './verify.ts';
export { withoutProjected } from './without-projected.ts';
