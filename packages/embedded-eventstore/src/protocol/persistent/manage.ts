import persistentPb from '@eventstore/db-client/generated/persistent_pb.js';
import type sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import type { GroupKey, Groups } from '../../persistent/groups.ts';
import { invalid, RefusedError } from '../../refusals.ts';
import { ALL } from '../../storage/group-rows.ts';
import { empty, streamNameOf } from '../messages.ts';
import { groupOf } from './settings.ts';

const { CreateResp, DeleteResp, ReplayParkedResp, UpdateResp } = persistentPb;

interface Named {
  hasAll(): boolean;
  getStreamIdentifier(): sharedPb.StreamIdentifier | undefined;
  getGroupName(): string;
}

/** The group that a request names. */
export const keyOf = (options: Named | undefined): GroupKey => {
  if (!options) throw invalid('options are required');
  const source = options.hasAll() ? ALL : streamNameOf(options.getStreamIdentifier());
  return { source, name: options.getGroupName() };
};

export const create = async (groups: Groups, request: persistentPb.CreateReq) => {
  const { key, settings } = groupOf(required(request.getOptions()));
  await groups.create(key, settings);
  return new CreateResp();
};

export const update = async (groups: Groups, request: persistentPb.UpdateReq) => {
  const { key, settings } = groupOf(required(request.getOptions()));
  await groups.update(key, settings);
  return new UpdateResp();
};

export const remove = async (groups: Groups, request: persistentPb.DeleteReq) => {
  await groups.delete(keyOf(request.getOptions()));
  return new DeleteResp();
};

export const replayParked = async (groups: Groups, request: persistentPb.ReplayParkedReq) => {
  const options = required(request.getOptions());
  const key = keyOf(options);
  const stopAt = options.hasStopAt() ? BigInt(options.getStopAt()) : null;
  if (stopAt !== null && stopAt < 0n) {
    const reason = 'Cannot stop replaying parked message at a negative version.';
    throw new RefusedError({ kind: 'persistent-subscription-failed', stream: key.source, group: key.name, reason });
  }
  await (await groups.get(key)).replay(stopAt);
  return new ReplayParkedResp();
};

export const restartSubsystem = async (groups: Groups) => {
  await groups.restart();
  return empty();
};

const required = <T>(options: T | undefined): T => {
  if (!options) throw invalid('options are required');
  return options;
};
