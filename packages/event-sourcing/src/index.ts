export { afterRecording } from './aggregate/after-recording.ts';
export { findInLog } from './followers/find-in-log.ts';
export { followLog, isBefore } from './followers/follow-log.ts';
export { historyEntry, readHistoryEntries } from './aggregate/history-entry.ts';
export { readVersion, writeVersion } from './followers/projection-version.ts';
export {
  type CountTable,
  FIRST_PROJECTION,
  nameOf,
  type Projection,
  startProjection,
  tablesOf,
} from './followers/projection.ts';
export { withoutProjected } from './followers/without-projected.ts';
export { moveCheckpoint } from './subscriptions/checkpoint.ts';
export { readCheckpoints, UnknownStoreError, verified } from './subscriptions/known-store.ts';
export { createLags, type Lags } from './subscriptions/lags.ts';
export { messageFor, type MessageSubject, outgoingMessage } from './followers/message.ts';
export { listParkedStreams } from './subscriptions/parked-streams.ts';
export { RELAY, type RelayOptions, startRelay } from './followers/relay.ts';
export { checkpointsInUse, shardOf } from './subscriptions/shards.ts';
export { type StoreWatch, watchStore } from './subscriptions/store-watch.ts';
export { guardAppends } from './store/append-guard.ts';
export { appendOne, deletedStream, endOf } from './store/append-one.ts';
export { append, tombstone } from './store/append.ts';
export { chainEvents } from './store/chain-events.ts';
export { type ChainVerification, verifyChains } from './store/hash-chain.ts';
export {
  type CommandHandler,
  commandHandler,
  type CommandHandlerOptions,
  type HandledCommand,
  type HandleOptions,
  type LoadedStream,
} from './aggregate/command-handler.ts';
export { connectEventStore } from './store/connect.ts';
export { eventStoreClock } from './store/event-store-clock.ts';
export { evolveRecorded } from './aggregate/evolve-recorded.ts';
export { withFactLog } from './aggregate/fact-log.ts';
export type { FlushTiming } from './store/flush-timer.ts';
export { type FoldedStream, foldedStream, type ProposedEvent } from './aggregate/folded-stream.ts';
export { type HistoryRange, type HistoryStream, readHistory } from './aggregate/history.ts';
export { endOfLog, type Standing, standingOf } from './store/log-entry.ts';
export { explainEventStore, openEventStore } from './store/open.ts';
export { readLog, type ReadLogOptions } from './store/log.ts';
export { type EvolvedEvent, type RecentEvents, recentEvents } from './aggregate/recent-events.ts';
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
export { type StateAt, stateAt } from './aggregate/state-at.ts';
export {
  firstEventData,
  isKnownStream,
  readStoreIdentity,
  type StoreIdentity,
  writeStoreIdentity,
} from './subscriptions/store-identity.ts';
export { eventsOf, firstEvent, isDeletedStream, lastEvent, rawEventsOf, readStream } from './store/stream.ts';
export { runSubscription } from './store/subscription.ts';
export { asUnavailable, EVENT_STORE } from './store/unavailable.ts';
export { UnreadableEventError } from './store/unreadable.ts';
export { watchConnection } from './subscriptions/watch-connection.ts';
