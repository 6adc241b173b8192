export { CHAIN_FAULTS_SHOWN, type ChainFault, type ChainVerification, verifyChains } from './chain.ts';
export {
  type CommandHandler,
  commandHandler,
  type CommandHandlerOptions,
  type Handled,
  type HandleOptions,
  type Loaded,
} from './command-handler.ts';
export { checkEventStore, connectEventStore } from './connect.ts';
export {
  AnyEvent,
  type DomainEvent,
  eventHash,
  EventMetadata,
  genesisHash,
  isTombstone,
  LogPosition,
  parseRecorded,
  type Recorded,
} from './recorded.ts';
export { type HistoryOptions, type HistoryRange, type HistoryStream, readHistory } from './history.ts';
export { type LogReading, readLog } from './log.ts';
export { stateAt, type StateAt } from './state-at.ts';
export { append, type AppendResult, eventsOf, readStream, tombstone } from './stream.ts';
export { follow, type Settling, type SubscriptionOptions } from './subscription.ts';
