import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import type streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { type ProposedEvent, TOMBSTONE } from '../events.ts';
import { invalid, RefusedError } from '../refusals.ts';
import { uuidOf } from './uuids.ts';

const JSON_TYPE = 'application/json';
const BINARY_TYPE = 'application/octet-stream';
const MAX_NAME_BYTES = 2_000; // an entry of a B-tree page has room for no more
const MAX_TYPE_CHARACTERS = 2_000; // bounds the time that a filter takes

export const empty = (): sharedPb.Empty => new sharedPb.Empty();

export const streamIdentifier = (stream: string): sharedPb.StreamIdentifier => {
  const identifier = new sharedPb.StreamIdentifier();
  identifier.setStreamName(Buffer.from(stream));
  return identifier;
};

/** Throws `invalid` for an invalid stream name. */
export const streamNameOf = (identifier: sharedPb.StreamIdentifier | undefined): string => {
  const bytes = Buffer.from(identifier?.getStreamName_asU8() ?? []);
  if (bytes.length === 0 || bytes.length > MAX_NAME_BYTES || bytes.includes(0)) {
    throw invalid(`a stream name must have 1 to ${MAX_NAME_BYTES} bytes and no zero byte`);
  }
  const name = bytes.toString();
  if (name === '$$' || name === '$all') throw invalid(`'${name}' is not a valid stream name`);
  return name;
};

/** Converts an unsigned 64-bit number to a revision or position, which is 2^63 - 1 at most. */
export const clampToInt64 = (unsigned: string): bigint => {
  const value = BigInt(unsigned);
  return value > TOMBSTONE ? TOMBSTONE : value;
};

export const contentTypeOf = ({ isJson }: ProposedEvent): string => (isJson ? JSON_TYPE : BINARY_TYPE);

type ProposedMessage = streamsPb.AppendReq.ProposedMessage | streamsPb.BatchAppendReq.ProposedMessage;

/** Throws RefusedError for a message without a UUID, type or content type. */
export const proposedEventOf = (message: ProposedMessage): ProposedEvent => {
  const properties = message.getMetadataMap();
  const type = properties.get('type');
  const contentType = properties.get('content-type');
  if (!type) throw new RefusedError({ kind: 'metadata-missing', property: 'type' });
  if (!contentType) throw new RefusedError({ kind: 'metadata-missing', property: 'content-type' });
  if (type.length > MAX_TYPE_CHARACTERS)
    throw invalid(`an event type must have at most ${MAX_TYPE_CHARACTERS} characters`);
  if (type.includes('\0')) throw invalid('an event type must not contain a zero byte');
  return {
    id: uuidOf(message.getId()),
    type,
    isJson: contentType === JSON_TYPE,
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
};
