export { append, tombstone } from './append.ts';
export { appendOne, endOf } from './append-one.ts';
export { guardAppends } from './append-guard.ts';
export { type ChainVerification, verifyChains } from './chain.ts';
export { chainEvents } from './chain-events.ts';
export {
  type CommandHandler,
  commandHandler,
  type HandledCommand,
  type HandleOptions,
  type LoadedStream,
} from './command-handler.ts';
export { connectEventStore } from './connect.ts';
export { eventStoreClock } from './event-store-clock.ts';
export {
  recordScale,
  requireConfiguredScale,
  requireRecordedScales,
  withRecordedScales,
  WrongScaleError,
} from './currency-scales.ts';
export { evolveRecorded } from './evolve-recorded.ts';
export { withFactLog } from './fact-log.ts';
export type { FlushTiming } from './flush-timer.ts';
export { type FoldedStream, foldedStream, type ProposedEvent } from './folded-stream.ts';
export { type HistoryRange, type HistoryStream, readHistory } from './history.ts';
export { endOfLog, type Standing, standingOf } from './log-entry.ts';
export { type EvolvedEvent, type RecentEvents, recentEvents } from './recent-events.ts';
export { readLog, type ReadLogOptions } from './read-log.ts';
export {
  AnyEvent,
  type DomainEvent,
  eventHash,
  eventIdOf,
  EventMetadata,
  genesisHash,
  type Idempotency,
  isTombstone,
  type LogPosition,
  parseRecorded,
  positionOf,
  type Recorded,
} from './recorded.ts';
export { explainEventStore, openEventStore } from './open.ts';
export { type StateAt, stateAt } from './state-at.ts';
export {
  firstEventData,
  isKnownStream,
  readStoreIdentity,
  type StoreIdentity,
  writeStoreIdentity,
} from './store-identity.ts';
export { eventsOf, firstEvent, isDeletedStream, lastEvent, rawEventsOf, readStream } from './stream.ts';
export { runSubscription } from './subscription.ts';
export { watchConnection } from './watch-connection.ts';
export { asUnavailable, EVENT_STORE } from './unavailable.ts';
export { UnreadableEventError } from './unreadable.ts';
