import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import type streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { type ExpectedRevision, type ProposedEvent, TOMBSTONE } from '../events.ts';
import { invalid, RefusedError } from '../refusals.ts';

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

/** The two wire forms of a UUID: as text, or as two 64-bit integers. */
export type UuidForm = 'string' | 'structured';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Reads either form. Throws `invalid` for a value that is not a UUID. */
export const uuidOf = (uuid: sharedPb.UUID | undefined): string => {
  const text = uuid?.hasStructured() ? fromHalves(uuid.getStructured()!) : (uuid?.getString() ?? '');
  if (!UUID.test(text)) throw invalid(`'${text}' is not a UUID`);
  return text.toLowerCase();
};

export const uuidMessage = (id: string, form: UuidForm): sharedPb.UUID => {
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

const fromHalves = (halves: sharedPb.UUID.Structured): string => {
  const half = (value: string) => BigInt.asUintN(64, BigInt(value)).toString(16).padStart(16, '0');
  const hex = half(halves.getMostSignificantBits()) + half(halves.getLeastSignificantBits());
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

interface NamedExpectations {
  hasAny(): boolean;
  hasNoStream(): boolean;
  hasStreamExists(): boolean;
}

interface ExpectedRevisionOptions extends NamedExpectations {
  hasRevision(): boolean;
  getRevision(): string;
}

/** The expected revision of an append, delete or tombstone request. Throws `invalid` if it is missing. */
export const expectedRevisionOf = (options: ExpectedRevisionOptions): ExpectedRevision => {
  if (options.hasRevision()) return clampToInt64(options.getRevision());
  return namedExpectationOf(options);
};

/** The same for one append of a batch, where the field has another name. */
export const batchExpectedRevisionOf = (options: streamsPb.BatchAppendReq.Options): ExpectedRevision => {
  if (options.hasStreamPosition()) return clampToInt64(options.getStreamPosition());
  return namedExpectationOf(options);
};

const namedExpectationOf = (options: NamedExpectations): ExpectedRevision => {
  if (options.hasAny()) return 'any';
  if (options.hasNoStream()) return 'no_stream';
  if (options.hasStreamExists()) return 'stream_exists';
  throw invalid('an expected revision is required');
};
