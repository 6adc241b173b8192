import persistentPb from '@eventstore/db-client/generated/persistent_pb.js';
import { TOMBSTONE } from '../../events.ts';
import type { GroupKey } from '../../persistent/groups.ts';
import type { FilterSettings, GroupSettings, StartFrom, Strategy } from '../../persistent/settings.ts';
import { invalid, RefusedError } from '../../refusals.ts';
import { ALL } from '../../storage/group-rows.ts';
import { int64Of, streamNameOf } from '../messages.ts';

type Options = persistentPb.CreateReq.Options | persistentPb.UpdateReq.Options;

const STRATEGY_NAMES: readonly Strategy[] = ['DispatchToSingle', 'RoundRobin', 'Pinned'];
const TICKS_PER_MS = 10_000n;

/** The group that a request to create or update is about, and what it is to be. */
export const groupOf = (options: Options): { readonly key: GroupKey; readonly settings: GroupSettings } => {
  const source = options.hasAll()
    ? ALL
    : streamNameOf(options.getStream()?.getStreamIdentifier() ?? options.getStreamIdentifier());
  const key = { source, name: options.getGroupName() };
  const settings = options.getSettings();
  if (!settings) throw invalid('settings are required');
  const asked = 'getConsumerStrategy' in settings ? settings.getConsumerStrategy() : '';
  return {
    key,
    settings: {
      resolveLinks: settings.getResolveLinks(),
      startFrom: options.hasAll() ? positionOf(options.getAll()!, key) : revisionOf(options),
      extraStatistics: settings.getExtraStatistics(),
      messageTimeoutMs: settings.hasMessageTimeoutTicks()
        ? msOf(settings.getMessageTimeoutTicks())
        : settings.getMessageTimeoutMs(),
      maxRetryCount: settings.getMaxRetryCount(),
      checkpointAfterMs: settings.hasCheckpointAfterTicks()
        ? msOf(settings.getCheckpointAfterTicks())
        : settings.getCheckpointAfterMs(),
      minCheckpointCount: settings.getMinCheckpointCount(),
      maxCheckpointCount: settings.getMaxCheckpointCount(),
      maxSubscriberCount: settings.getMaxSubscriberCount(),
      liveBufferSize: settings.getLiveBufferSize(),
      readBatchSize: settings.getReadBatchSize(),
      historyBufferSize: settings.getHistoryBufferSize(),
      strategy: (asked || (STRATEGY_NAMES[settings.getNamedConsumerStrategy()] ?? '')) as Strategy,
      filter: filterOf(options),
    },
  };
};

const msOf = (ticks: string): number => Number(BigInt(ticks) / TICKS_PER_MS);

/** Requests of older clients have the revision among the settings. */
const revisionOf = (options: Options): StartFrom => {
  const stream = options.getStream();
  if (stream?.hasStart()) return 'start';
  if (stream?.hasEnd()) return 'end';
  const revision = int64Of(stream?.getRevision() ?? options.getSettings()!.getRevision());
  if (revision === TOMBSTONE) return 'end';
  return revision === 0n ? 'start' : revision;
};

const positionOf = (
  all: persistentPb.CreateReq.AllOptions | persistentPb.UpdateReq.AllOptions,
  { source, name }: GroupKey,
): StartFrom => {
  if (all.hasStart()) return 'start';
  if (all.hasEnd()) return 'end';
  const position = all.getPosition();
  if (!position) throw invalid('a group of $all starts somewhere');
  const [commit, prepare] = [int64Of(position.getCommitPosition()), int64Of(position.getPreparePosition())];
  if (prepare > commit) {
    const reason = 'it cannot start at a position whose prepare is after its commit';
    throw new RefusedError({ kind: 'persistent-subscription-failed', stream: source, group: name, reason });
  }
  return commit === 0n ? 'start' : commit;
};

const filterOf = (options: Options): FilterSettings | null => {
  const all = options instanceof persistentPb.CreateReq.Options ? options.getAll() : undefined;
  const filter = all?.getFilter();
  if (!filter) return null;
  const onType = filter.getEventType();
  const expression = onType ?? filter.getStreamIdentifier();
  if (!expression) throw invalid('a filter is by event type or by stream name');
  return { on: onType ? 'type' : 'stream', prefixes: expression.getPrefixList(), regex: expression.getRegex() };
};
