export { afterRecording } from './projection/after-recording.ts';
export { findInLog } from './projection/find-in-log.ts';
export { followLog, isBefore } from './projection/follow-log.ts';
export { historyEntry, readHistoryEntries } from './projection/history-entry.ts';
export { readVersion, writeVersion } from './projection/projection-version.ts';
export {
  type CountTable,
  FIRST_PROJECTION,
  nameOf,
  type Projection,
  startProjection,
  tablesOf,
} from './projection/projection.ts';
export { withoutProjected } from './projection/without-projected.ts';
export { moveCheckpoint } from './relay/checkpoint.ts';
export { readCheckpoints, UnknownStoreError, verified } from './relay/known-store.ts';
export { createLags, type Lags } from './relay/lags.ts';
export { messageFor, type MessageSubject, outgoingMessage } from './relay/message.ts';
export { listParkedStreams } from './relay/parked-streams.ts';
export { RELAY, type RelayOptions, startRelay } from './relay/relay.ts';
export { checkpointsInUse, shardOf } from './relay/shards.ts';
export { type StoreWatch, watchStore } from './relay/store-watch.ts';
export { guardAppends } from './store/append-guard.ts';
export { appendOne, deletedStream, endOf } from './store/append-one.ts';
export { append, tombstone } from './store/append.ts';
export { chainEvents } from './store/chain-events.ts';
export { type ChainVerification, verifyChains } from './store/chain.ts';
export {
  type CommandHandler,
  commandHandler,
  type CommandHandlerOptions,
  type HandledCommand,
  type HandleOptions,
  type LoadedStream,
} from './store/command-handler.ts';
export { connectEventStore } from './store/connect.ts';
export { eventStoreClock } from './store/event-store-clock.ts';
export { evolveRecorded } from './store/evolve-recorded.ts';
export { withFactLog } from './store/fact-log.ts';
export type { FlushTiming } from './store/flush-timer.ts';
export { type FoldedStream, foldedStream, type ProposedEvent } from './store/folded-stream.ts';
export { type HistoryRange, type HistoryStream, readHistory } from './store/history.ts';
export { endOfLog, type Standing, standingOf } from './store/log-entry.ts';
export { explainEventStore, openEventStore } from './store/open.ts';
export { readLog, type ReadLogOptions } from './store/read-log.ts';
export { type EvolvedEvent, type RecentEvents, recentEvents } from './store/recent-events.ts';
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
} from './store/recorded.ts';
export { type StateAt, stateAt } from './store/state-at.ts';
export {
  firstEventData,
  isKnownStream,
  readStoreIdentity,
  type StoreIdentity,
  writeStoreIdentity,
} from './store/store-identity.ts';
export { eventsOf, firstEvent, isDeletedStream, lastEvent, rawEventsOf, readStream } from './store/stream.ts';
export { runSubscription } from './store/subscription.ts';
export { asUnavailable, EVENT_STORE } from './store/unavailable.ts';
export { UnreadableEventError } from './store/unreadable.ts';
export { watchConnection } from './store/watch-connection.ts';
