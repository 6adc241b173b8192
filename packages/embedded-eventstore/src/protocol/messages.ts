import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { type ProposedEvent, type RecordedEvent, TOMBSTONE } from '../events.ts';
import { invalid, RefusedError } from '../refusals.ts';
import type { ReadMessage } from '../subscriptions/messages.ts';

const { ReadResp } = streamsPb;
const { ReadEvent } = ReadResp;
const JSON_TYPE = 'application/json';
const BINARY_TYPE = 'application/octet-stream';
const MAX_NAME_BYTES = 2_000; // what fits an entry of a B-tree page

export const empty = (): sharedPb.Empty => new sharedPb.Empty();

export const streamIdentifier = (stream: string): sharedPb.StreamIdentifier => {
  const identifier = new sharedPb.StreamIdentifier();
  identifier.setStreamName(Buffer.from(stream));
  return identifier;
};

/** Throws `invalid` for a name that no stream can have. */
export const streamNameOf = (identifier: sharedPb.StreamIdentifier | undefined): string => {
  const bytes = Buffer.from(identifier?.getStreamName_asU8() ?? []);
  if (bytes.length === 0 || bytes.length > MAX_NAME_BYTES || bytes.includes(0)) {
    throw invalid(`a stream name has 1 to ${MAX_NAME_BYTES} bytes, none of them zero`);
  }
  const name = bytes.toString();
  if (name === '$$' || name === '$all') throw invalid(`'${name}' is not the name of a stream`);
  return name;
};

/** An unsigned 64-bit number as it can be a revision or position here: what is beyond 2^63 - 1 is that. */
export const int64Of = (unsigned: string): bigint => {
  const value = BigInt(unsigned);
  return value > TOMBSTONE ? TOMBSTONE : value;
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Throws `invalid` for what is no UUID. */
export const uuidOf = (uuid: sharedPb.UUID | undefined): string => {
  const text = uuid?.hasStructured() ? fromHalves(uuid.getStructured()!) : (uuid?.getString() ?? '');
  if (!UUID.test(text)) throw invalid(`'${text}' is not a UUID`);
  return text.toLowerCase();
};

const fromHalves = (halves: sharedPb.UUID.Structured): string => {
  const half = (value: string) => BigInt.asUintN(64, BigInt(value)).toString(16).padStart(16, '0');
  const hex = half(halves.getMostSignificantBits()) + half(halves.getLeastSignificantBits());
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

type ProposedMessage = streamsPb.AppendReq.ProposedMessage | streamsPb.BatchAppendReq.ProposedMessage;

/** Throws RefusedError for a message without id, type or content type. */
export const proposedEventOf = (message: ProposedMessage): ProposedEvent => {
  const properties = message.getMetadataMap();
  const type = properties.get('type');
  const contentType = properties.get('content-type');
  if (!type) throw new RefusedError({ kind: 'metadata-missing', property: 'type' });
  if (!contentType) throw new RefusedError({ kind: 'metadata-missing', property: 'content-type' });
  if (type.includes('\0')) throw invalid('an event type has no zero bytes');
  return {
    id: uuidOf(message.getId()),
    type,
    isJson: contentType === JSON_TYPE,
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
};

export type UuidForm = 'string' | 'structured';

export const readResponse = (message: ReadMessage, uuids: UuidForm): streamsPb.ReadResp => {
  const response = new ReadResp();
  switch (message.kind) {
    case 'event': {
      const event = new ReadEvent();
      event.setEvent(recordedEventMessage(message.event, uuids));
      event.setCommitPosition(String(message.event.position));
      response.setEvent(event);
      return response;
    }
    case 'confirmation': {
      const confirmation = new ReadResp.SubscriptionConfirmation();
      confirmation.setSubscriptionId(message.subscriptionId);
      response.setConfirmation(confirmation);
      return response;
    }
    case 'checkpoint': {
      const checkpoint = new ReadResp.Checkpoint();
      checkpoint.setCommitPosition(String(message.position));
      checkpoint.setPreparePosition(String(message.position));
      response.setCheckpoint(checkpoint);
      return response;
    }
    case 'caught-up':
      response.setCaughtUp(new ReadResp.CaughtUp());
      return response;
    case 'stream-not-found': {
      const notFound = new ReadResp.StreamNotFound();
      notFound.setStreamIdentifier(streamIdentifier(message.stream));
      response.setStreamNotFound(notFound);
      return response;
    }
    case 'first-stream-position':
      response.setFirstStreamPosition(String(message.revision));
      return response;
    case 'last-stream-position':
      response.setLastStreamPosition(String(message.revision));
      return response;
  }
};

const recordedEventMessage = (event: RecordedEvent, uuids: UuidForm): streamsPb.ReadResp.ReadEvent.RecordedEvent => {
  const message = new ReadEvent.RecordedEvent();
  message.setId(uuidMessage(event.id, uuids));
  message.setStreamIdentifier(streamIdentifier(event.stream));
  message.setStreamRevision(String(event.revision));
  message.setPreparePosition(String(event.position));
  message.setCommitPosition(String(event.position));
  const properties = message.getMetadataMap();
  properties.set('type', event.type);
  properties.set('created', String(event.createdTicks));
  properties.set('content-type', event.isJson ? JSON_TYPE : BINARY_TYPE);
  message.setData(event.data);
  message.setCustomMetadata(event.metadata);
  return message;
};

const uuidMessage = (id: string, form: UuidForm): sharedPb.UUID => {
  const uuid = new sharedPb.UUID();
  if (form === 'string') {
    uuid.setString(id);
    return uuid;
  }
  const hex = id.replaceAll('-', '');
  const half = (digits: string) => String(BigInt.asIntN(64, BigInt(`0x${digits}`)));
  const halves = new sharedPb.UUID.Structured();
  halves.setMostSignificantBits(half(hex.slice(0, 16)));
  halves.setLeastSignificantBits(half(hex.slice(16)));
  uuid.setStructured(halves);
  return uuid;
};
