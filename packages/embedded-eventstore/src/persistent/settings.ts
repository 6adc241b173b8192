import { eventFilter, type EventFilter } from '../filter.ts';

export const STRATEGIES = ['RoundRobin', 'DispatchToSingle', 'Pinned', 'PinnedByCorrelation'] as const;
/** How a group shares its messages among subscribers. */
export type Strategy = (typeof STRATEGIES)[number];

/** Where a group begins: at a revision or position, that one included, or after all there is. */
export type StartFrom = 'start' | 'end' | bigint;

/** Which events of $all a group is about. */
export interface FilterSettings {
  readonly on: 'type' | 'stream';
  readonly prefixes: readonly string[];
  readonly regex: string;
}

/** What a group was created with. Counts and sizes are of messages. */
export interface GroupSettings {
  readonly resolveLinks: boolean;
  readonly startFrom: StartFrom;
  readonly extraStatistics: boolean;
  /** 0 waits for ever. */
  readonly messageTimeoutMs: number;
  readonly maxRetryCount: number;
  readonly checkpointAfterMs: number;
  readonly minCheckpointCount: number;
  readonly maxCheckpointCount: number;
  /** 0 is no limit. */
  readonly maxSubscriberCount: number;
  readonly liveBufferSize: number;
  readonly readBatchSize: number;
  readonly historyBufferSize: number;
  readonly strategy: Strategy;
  /** Of $all only. */
  readonly filter: FilterSettings | null;
}

/** The sentence that says why no group can have these settings, null if one can. */
export const faultOf = (settings: GroupSettings): string | null => {
  if (!STRATEGIES.includes(settings.strategy)) return `Consumer strategy ${settings.strategy} does not exist.`;
  for (const [name, value] of Object.entries(settings)) {
    if (typeof value === 'number' && value < 0) return `${name} is ${value}: it is at least 0`;
  }
  if (settings.readBatchSize >= settings.historyBufferSize) {
    return `readBatchSize (${settings.readBatchSize}) is less than historyBufferSize (${settings.historyBufferSize})`;
  }
  return null;
};

/** Throws SyntaxError for an expression that is none. */
export const filterOf = ({ on, prefixes, regex }: FilterSettings): EventFilter => eventFilter(on, prefixes, regex);
