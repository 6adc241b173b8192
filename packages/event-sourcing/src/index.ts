export {
  afterRecording,
  type CommandHandler,
  commandHandler,
  type CommandHandlerOptions,
  type HandledCommand,
  type HandleOptions,
  type LoadedStream,
  withFactLog,
} from './aggregate/command-handler.ts';
export { findInLog, followLog } from './followers/rows-and-log.ts';
export { historyEntry, type HistoryStream, readHistory, readHistoryEntries } from './aggregate/history.ts';
export {
  type CountTable,
  FIRST_PROJECTION,
  nameOf,
  type Projection,
  readVersion,
  startProjection,
  tablesOf,
  withoutProjected,
  writeVersion,
} from './followers/projection.ts';
export { moveCheckpoint } from './subscriptions/checkpoint.ts';
export {
  firstEventData,
  isKnownStream,
  readCheckpoints,
  readStoreIdentity,
  type StoreIdentity,
  UnknownStoreError,
  verified,
  writeStoreIdentity,
} from './subscriptions/known-store.ts';
export { createLags, type Lags } from './subscriptions/lags.ts';
export { listParkedStreams } from './subscriptions/parked-streams.ts';
export { RELAY, type RelayOptions, startRelay } from './followers/relay.ts';
export { checkpointsInUse, shardOf } from './subscriptions/shards.ts';
export { type StoreWatch, watchStore } from './subscriptions/store-watch.ts';
export { append, appendOne, deletedStream, endOf, guardAppends, tombstone } from './store/append.ts';
export {
  AnyEvent,
  linkEvent,
  linkEvents,
  type DomainEvent,
  eventHash,
  eventIdOf,
  EventMetadata,
  genesisHash,
  HASH_VERSION,
  type Idempotency,
  isBefore,
  isTombstone,
  type LogPosition,
  parseRecorded,
  positionOf,
  type Recorded,
  seal,
  type StreamEnd,
} from './store/recorded.ts';
export { type HashChainVerification, verifyHashChains } from './store/hash-chain.ts';
export { connectEventStore } from './store/connect.ts';
export { eventStoreClock } from './store/event-store-clock.ts';
export { evolveRecorded, type RecentEvents, recentEvents, stateAt } from './aggregate/state-at.ts';
export { foldedStream, type ProposedEvent } from './aggregate/folded-stream.ts';
export { endOfLog, readLog, checkPosition } from './store/log.ts';
export { explainEventStore, openEventStore } from './store/open.ts';
export { eventsOf, firstEvent, isDeletedStream, lastEvent, rawEventsOf, readStream } from './store/stream.ts';
export { EVENT_STORE, UnreadableEventError } from './store/errors.ts';
