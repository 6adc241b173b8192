import persistentPb from '@eventstore/db-client/generated/persistent_pb.js';
import type { Groups } from '../../persistent/groups.ts';
import type { RunningGroup } from '../../persistent/running-group.ts';
import { invalid } from '../../refusals.ts';
import { ALL } from '../../storage/group-rows.ts';
import { streamNameOf } from '../messages.ts';
import { keyOf } from './manage.ts';

const { GetInfoResp, ListResp, SubscriptionInfo } = persistentPb;

export const getInfo = async (groups: Groups, request: persistentPb.GetInfoReq, nowMs: number) => {
  const response = new GetInfoResp();
  response.setSubscriptionInfo(await infoOf(await groups.get(keyOf(request.getOptions())), nowMs));
  return response;
};

export const list = async (groups: Groups, request: persistentPb.ListReq, nowMs: number) => {
  const options = request.getOptions();
  const of = options?.getListForStream();
  if (!of && !options?.hasListAllSubscriptions()) throw invalid('a list is of all groups or of those of a stream');
  const source = of && (of.hasAll() ? ALL : streamNameOf(of.getStream()));
  const response = new ListResp();
  for (const group of await groups.list(source)) response.addSubscriptions(await infoOf(group, nowMs));
  return response;
};

const infoOf = async (group: RunningGroup, nowMs: number): Promise<persistentPb.SubscriptionInfo> => {
  const { source, name, settings, start } = group.row;
  const { isLive, checkpoint, seen, counts, subscribers } = group.state;
  const place = (at: bigint): string => (source === ALL ? `C:${at}/P:${at}` : String(at));
  const startsAt = { start: 0n, end: -1n };
  const { total, sinceLast, perSecond } = group.meter.read(nowMs);

  const info = new SubscriptionInfo();
  info.setEventSource(source);
  info.setGroupName(name);
  info.setStatus(isLive ? 'Live' : 'Behind');
  info.setAveragePerSecond(perSecond);
  info.setTotalItems(String(total));
  info.setCountSinceLastMeasurement(String(sinceLast));
  info.setLastCheckpointedEventPosition(checkpoint === null ? '' : place(checkpoint));
  info.setLastKnownEventPosition(seen > start || checkpoint !== null ? place(seen) : '');
  info.setStartFrom(place(typeof settings.startFrom === 'string' ? startsAt[settings.startFrom] : settings.startFrom));
  info.setResolveLinkTos(settings.resolveLinks);
  info.setExtraStatistics(settings.extraStatistics);
  info.setMessageTimeoutMilliseconds(settings.messageTimeoutMs);
  info.setMaxRetryCount(settings.maxRetryCount);
  info.setLiveBufferSize(settings.liveBufferSize);
  info.setBufferSize(settings.historyBufferSize);
  info.setReadBatchSize(settings.readBatchSize);
  info.setCheckPointAfterMilliseconds(settings.checkpointAfterMs);
  info.setMinCheckPointCount(settings.minCheckpointCount);
  info.setMaxCheckPointCount(settings.maxCheckpointCount);
  info.setMaxSubscriberCount(settings.maxSubscriberCount);
  info.setNamedConsumerStrategy(settings.strategy);
  info.setReadBufferCount(counts.waiting);
  info.setRetryBufferCount(counts.retries);
  info.setLiveBufferCount('0'); // live events are read from memory that all share
  info.setTotalInFlightMessages(counts.inFlight);
  info.setOutstandingMessagesCount(counts.inFlight);
  info.setParkedMessageCount(String(await group.parked.count()));
  info.setConnectionsList(subscribers.map((one) => connectionOf(one, nowMs)));
  return info;
};

type Connected = RunningGroup['state']['subscribers'][number];

const connectionOf = ({ subscriber, meter, inFlight, free }: Connected, nowMs: number) => {
  const { total, sinceLast, perSecond } = meter.read(nowMs);
  const connection = new SubscriptionInfo.ConnectionInfo();
  connection.setFrom(subscriber.from);
  connection.setUsername(subscriber.user);
  connection.setConnectionName(subscriber.connectionName);
  connection.setAverageItemsPerSecond(perSecond);
  connection.setTotalItems(String(total));
  connection.setCountSinceLastMeasurement(String(sinceLast));
  connection.setAvailableSlots(free);
  connection.setInFlightMessages(inFlight);
  return connection;
};
